import { type ErrorCode, PlatenError } from '../../infra/errors/registry.ts';

/**
 * Ends a render before it is done: by its deadline, its signal, the death of its page, or the closing of the pool. The
 * first of them rejects everything that the render waits for, with an error that names the cause.
 */
export class CancelScope {
  readonly #ended: Promise<never>;
  readonly #reject: (error: PlatenError) => void;
  #timer: NodeJS.Timeout;
  readonly #cancel: AbortSignal;
  readonly #onAbort: () => void;
  readonly #controller = new AbortController();
  #deadline: number;
  /** Epoch milliseconds since when its clock has been stopped. */
  #stoppedAt: number | undefined;
  #timeoutCode: ErrorCode = 'RENDER_TIMEOUT';
  #timeoutMessage: string | (() => string) | undefined;
  #error: PlatenError | undefined;
  #disposed = false;
  #waits: CancelScope | undefined;
  readonly #onWaiting: (waits: boolean) => void;

  /**
   * @param deadline epoch milliseconds.
   * @param cancel ends the job when it aborts.
   * @param onWaiting called when the job begins (`true`) or ends (`false`) to wait for shared resources.
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

  /** Epoch milliseconds; later by the time during which the job's clock was stopped. */
  get deadline(): number {
    return this.#deadline + (this.#stoppedAt === undefined ? 0 : Date.now() - this.#stoppedAt);
  }

  /** Stops the clock of the deadline while the job waits for something that its document has no part in. */
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

  /** The end of the job's waits, which are to leave `leavesMs` milliseconds to the rest of the render. */
  endOfWaits(leavesMs: number): CancelScope {
    this.#waits = new CancelScope(this.deadline - leavesMs, this.signal);
    return this.#waits;
  }

  /** Notifies that the job begins (`true`) or ends (`false`) to wait for shared resources, while its clock runs on. */
  notifyWaiting(waits: boolean): void {
    this.#onWaiting(waits);
  }

  /** The error that ended the job, if any. */
  get error(): PlatenError | undefined {
    return this.#error;
  }

  /** Aborted when the job ends before it is done. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Ends the job; only the first call has an effect. */
  end(error: PlatenError): void {
    if (this.#error) return;
    this.#error = error;
    this.#reject(error);
    this.#controller.abort(error);
  }

  /** The result of `work`, unless the job ends first; the later outcome of `work` is then ignored. */
  race<T>(work: Promise<T>): Promise<T> {
    work.catch(() => undefined);
    return Promise.race([this.#ended, work]);
  }

  /** Like `race`, but reports a timeout during `work` as `code` with `message`. */
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
