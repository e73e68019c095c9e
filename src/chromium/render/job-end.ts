import { type ErrorCode, PlatenError } from '../../errors/registry.ts';

/**
 * What ends a render before it is done: its deadline, its signal, the death of its page, the closing of the pool.
 * Whichever comes first rejects everything that is being waited for, with an error that says which it was.
 */
export class JobEnd {
  readonly #ended: Promise<never>;
  readonly #reject: (error: PlatenError) => void;
  #timer: NodeJS.Timeout;
  readonly #cancel: AbortSignal;
  readonly #onAbort: () => void;
  readonly #ending = new AbortController();
  #deadline: number;
  /** Epoch milliseconds since when its clock stands still. */
  #stoppedAt: number | undefined;
  #timeoutCode: ErrorCode = 'RENDER_TIMEOUT';
  #timeoutMessage: string | (() => string) | undefined;
  #error: PlatenError | undefined;
  #disposed = false;
  #waits: JobEnd | undefined;
  readonly #onWaiting: (waits: boolean) => void;

  /**
   * @param deadline epoch milliseconds.
   * @param cancel ends the job when it aborts.
   * @param onWaiting told when it begins (`true`) and ends to wait for what others have.
   */
  constructor(deadline: number, cancel: AbortSignal, onWaiting: (waits: boolean) => void = () => undefined) {
    this.#onWaiting = onWaiting;
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => undefined);
    this.#ended = promise;
    this.#reject = reject;
    this.#deadline = deadline;
    this.#timer = this.#startTimer();
    this.#cancel = cancel;
    this.#onAbort = () => this.end(new PlatenError('CANCELLED'));
    if (cancel.aborted) this.#onAbort();
    else cancel.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Epoch milliseconds; later by as much as the job's clock has stood still. */
  get deadline(): number {
    return this.#deadline + (this.#stoppedAt === undefined ? 0 : Date.now() - this.#stoppedAt);
  }

  /** From now on its deadline does not come nearer: it waits for what its document has no part in. */
  stopClock(): void {
    if (this.#stoppedAt !== undefined) return;
    this.#waits?.stopClock();
    clearTimeout(this.#timer);
    this.#stoppedAt = Date.now();
    this.#onWaiting(true);
  }

  startClock(): void {
    if (this.#stoppedAt === undefined) return;
    this.#waits?.startClock();
    this.#deadline = this.deadline;
    this.#stoppedAt = undefined;
    this.#onWaiting(false);
    if (!this.#disposed) this.#timer = this.#startTimer();
  }

  /** The end of its waits, when these are to leave it so many milliseconds. */
  endOfWaits(leavesMs: number): JobEnd {
    this.#waits = new JobEnd(this.deadline - leavesMs, this.signal);
    return this.#waits;
  }

  /** It begins (`true`) or ends to wait for what others have, while its clock goes on. */
  notifyWaiting(waits: boolean): void {
    this.#onWaiting(waits);
  }

  /** The error that ended the job, once one has. */
  get error(): PlatenError | undefined {
    return this.#error;
  }

  /** Aborted when the job has ended before it was done. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Ends the job; what came first stands. */
  end(error: PlatenError): void {
    if (this.#error) return;
    this.#error = error;
    this.#reject(error);
    this.#ending.abort(error);
  }

  /** `work`, unless the job ends first. What `work` does afterwards is nobody's concern any more. */
  race<T>(work: Promise<T>): Promise<T> {
    work.catch(() => undefined);
    return Promise.race([this.#ended, work]);
  }

  /** `work`, during which running out of time is `code` with `message`. */
  async raceAs<T>(code: ErrorCode, message: string | (() => string), work: Promise<T>): Promise<T> {
    this.#timeoutCode = code;
    this.#timeoutMessage = message;
    try {
      return await this.race(work);
    } finally {
      this.#timeoutCode = 'RENDER_TIMEOUT';
      this.#timeoutMessage = undefined;
    }
  }

  /** Stops watching: the job is done. */
  dispose(): void {
    this.#disposed = true;
    this.#waits?.dispose();
    clearTimeout(this.#timer);
    this.#cancel.removeEventListener('abort', this.#onAbort);
  }

  #startTimer(): NodeJS.Timeout {
    const end = () => {
      const message = this.#timeoutMessage;
      this.end(new PlatenError(this.#timeoutCode, typeof message === 'function' ? message() : message));
    };
    return setTimeout(end, Math.max(0, this.#deadline - Date.now()));
  }
}
