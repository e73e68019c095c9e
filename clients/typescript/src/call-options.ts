export interface AbortOptions {
  /** Ends the call, which then rejects with PlatenAbortError. */
  readonly signal?: AbortSignal | undefined;
}

export interface CallOptions extends AbortOptions {
  /** Of the whole call with all its tries, in milliseconds; then it rejects with PlatenDeadlineError. None by default. */
  readonly timeoutMs?: number | undefined;
}

export interface WaitOptions extends CallOptions {
  /** Cancels the job, or the batch, when the call is aborted or its time is over, before it rejects. Default false. */
  readonly cancelOnAbort?: boolean | undefined;
}

export interface SubmitOptions extends CallOptions {
  /**
   * Names the order for 24 hours: a second call with the same name and the same request brings the same PDF, or the same
   * batch. One is made up for each call unless given.
   */
  readonly idempotencyKey?: string | undefined;
}

/** With `cancelOnAbort` the render is submitted to the background, and is another request to an idempotency key. */
export interface RenderCallOptions extends SubmitOptions, WaitOptions {}

/** What a request that orders something sends with it. */
export function named(idempotencyKey: string | undefined, { signal }: AbortOptions) {
  const header = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
  return { params: { header }, ...(signal && { signal }) };
}

/** What a request about one job or batch sends with it. */
export function about(id: string, { signal }: AbortOptions) {
  return { params: { path: { id } }, ...(signal && { signal }) };
}
