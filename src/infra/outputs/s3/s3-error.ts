/** The store could not be reached, or refused a request. */
export class S3Error extends Error {
  override readonly name = 'S3Error';
  /** 0 without a response. */
  readonly status: number;
  /** The store's own, such as AccessDenied; of a connection that of the system, such as ECONNREFUSED. */
  readonly code: string;
  /** Where the bucket is, if the store says so to somebody who looks for it elsewhere. */
  readonly region: string | undefined;
  /** What went wrong, without the key: nobody else is to read the ids of jobs. */
  readonly reason: string;

  constructor(
    what: string,
    failure: { status: number; code: string; message: string; region?: string | undefined; cause?: unknown },
  ) {
    const reason = `${failure.message.replace(/\.$/, '')} (${failure.code})`;
    super(`${what}: ${reason}`, { cause: failure.cause });
    this.reason = reason;
    this.status = failure.status;
    this.code = failure.code;
    this.region = failure.region;
  }

  /** Nothing is stored under the key. */
  get isMissing(): boolean {
    return this.status === 404 && this.code !== 'NoSuchBucket';
  }

  /** The same request never succeeds, however often it is made. */
  get isForGood(): boolean {
    return this.status === 413 || this.code === 'EntityTooLarge' || this.code === 'NoSuchUpload';
  }

  /** Another try may succeed soon. */
  get isTransient(): boolean {
    const { status, code } = this;
    return status === 0 || status === 408 || status === 429 || status >= 500 || code === 'RequestTimeout';
  }
}
