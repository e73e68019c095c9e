import { callerWaits } from '../async/caller-scope.ts';
import { systemTimers, type Timers } from '../async/timers.ts';
import { DatabaseSilent, isDatabaseAway } from './database-away.ts';

/**
 * The interval of the checks, in milliseconds. A check counts, not the time that has passed: a process that was
 * suspended, or got no processor time, has not waited for the database.
 */
const CHECK_MS = 250;
/** Checks without a response after which the database is asked for one: 1 s. */
const CHECKS_TO_PING = 4;
/** Checks without a response after which the database counts as silent: 3.5 s, so that callers know within 5 s. */
const CHECKS_TO_SILENCE = 14;

/** No process is kept alive by its checks. */
const unheldTimers: Timers = {
  ...systemTimers,
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/**
 * Notices that a database has stopped responding, to anything, while operations wait for it: a process that is suspended
 * or hangs, a machine or network that swallows packets. Connections to it stay open then, and the driver waits for half
 * a minute, for each operation of a request again.
 *
 *     responding ─3.5 s without any response, although something waits→ silent ─any response→ responding
 *
 * An operation that takes long is no silence as long as the database responds to others, such as a ping. While it is
 * silent, operations of requests fail at once, those that wait for a response as well as new ones. So callers get their
 * responses, and operations do not pile up. Operations of no caller (see `callerWaits`) wait as long as the driver does,
 * so that a render that has ended while the database hung is not repeated.
 */
export class ResponseWatch {
  readonly #ping: () => Promise<unknown>;
  readonly #timers: Timers;
  readonly #onChange: (silent: boolean) => void;
  /** Ends the waits of callers. */
  readonly #callers = new Set<(error: Error) => void>();
  #pending = 0;
  #checks = 0;
  #silent = false;
  #checking = false;
  #pinging: Promise<unknown> | undefined;

  /** @param ping resolves when the database responds. @param onChange called when it falls silent, or responds. */
  constructor(
    ping: () => Promise<unknown>,
    {
      timers = unheldTimers,
      onChange = () => {},
    }: { timers?: Timers; onChange?: (silent: boolean) => void } = {},
  ) {
    this.#ping = ping;
    this.#timers = timers;
    this.#onChange = onChange;
  }

  /** Whether the database has stopped responding. */
  get silent(): boolean {
    return this.#silent;
  }

  /** Operations that wait for a response, including those whose callers wait no more. */
  get pending(): number {
    return this.#pending;
  }

  /** @throws DatabaseSilent when a caller waits and the database is silent; what was sent may take effect yet. */
  async run<R>(operation: () => Promise<R>): Promise<R> {
    if (!callerWaits()) return this.#observe(operation);
    if (this.#silent) throw new DatabaseSilent();
    const { promise, reject } = Promise.withResolvers<never>();
    this.#callers.add(reject);
    try {
      return await Promise.race([this.#observe(operation), promise]);
    } finally {
      this.#callers.delete(reject);
    }
  }

  /** Resolves when the database responds. One ping at a time: concurrent callers share it. */
  ping(): Promise<unknown> {
    this.#pinging ??= this.#observe(this.#ping).finally(() => {
      this.#pinging = undefined;
    });
    return this.#pinging;
  }

  async #observe<R>(operation: () => Promise<R>): Promise<R> {
    this.#pending += 1;
    if (!this.#checking) this.#checkLater();
    try {
      const result = await operation();
      this.#noteResponse();
      return result;
    } catch (error) {
      if (!isDatabaseAway(error)) this.#noteResponse();
      throw error;
    } finally {
      this.#pending -= 1;
    }
  }

  #noteResponse(): void {
    this.#checks = 0;
    if (!this.#silent) return;
    this.#silent = false;
    this.#onChange(false);
  }

  #checkLater(): void {
    this.#checking = true;
    this.#timers.after(CHECK_MS, () => this.#check());
  }

  #check(): void {
    if (this.#pending === 0 && !this.#silent) {
      this.#checking = false;
      this.#checks = 0;
      return;
    }
    this.#checks += 1;
    if (this.#checks >= CHECKS_TO_PING) this.ping().catch(() => undefined);
    if (this.#checks >= CHECKS_TO_SILENCE && !this.#silent) {
      this.#silent = true;
      this.#onChange(true);
    }
    if (this.#silent) for (const end of this.#callers) end(new DatabaseSilent());
    this.#checkLater();
  }
}
