import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin, Kafka } from 'kafkajs';
import { within } from '../../async/timeout.ts';
import { unlessAborted } from '../../async/unless-aborted.ts';
import type { Logger } from '../../telemetry/logger.ts';

const PROBE_MS = 2000;
const PROBE_TIMEOUT_MS = 3000;
const RETRY_MS = 500;
const CLOSE_TIMEOUT_MS = 2000;
const NOT_YET = 'not connected yet';

/**
 * Knows whether the brokers respond, by a query every two seconds: unless a consumer of this process has had a response
 * since the last one, as it has each second. A thousand workers would else ask brokers a thousand times a second.
 */
export class BrokerMonitor {
  readonly #admin: Admin;
  readonly #logger: Logger;
  readonly #stopped = new AbortController();
  readonly #running: Promise<void>;
  #reachable = pending();
  #connected = false;
  #problem: string | undefined = NOT_YET;
  /** Whether a broker has responded to somebody else since the last query. */
  #heard = false;

  constructor(kafka: Kafka, logger: Logger) {
    this.#admin = kafka.admin();
    this.#logger = logger;
    this.#running = this.#run();
  }

  /** Undefined while the brokers respond. */
  problem(): string | undefined {
    return this.#problem;
  }

  /** To be called when a broker has responded to something else. */
  heard(): void {
    this.#heard = true;
  }

  /** Resolves as soon as the brokers respond; rejects when the monitor is closed before. */
  reachable(): Promise<void> {
    return this.#reachable.promise;
  }

  /** As `within`, and rejects as soon as the monitor is closed. */
  whileOpen<T>(limitMs: number, what: string, work: Promise<T>): Promise<T> {
    return within(limitMs, what, unlessAborted(this.#stopped.signal, work));
  }

  async close(): Promise<void> {
    const closed = new Error('The bus is closed.');
    this.#stopped.abort(closed);
    this.#reachable.reject(closed);
    await this.#running;
    await within(CLOSE_TIMEOUT_MS, 'disconnecting', this.#admin.disconnect()).catch(() => {});
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      try {
        if (this.#problem !== undefined || !this.#heard)
          await this.whileOpen(PROBE_TIMEOUT_MS, 'the response of the brokers', this.#ask());
        this.#heard = false;
        this.#responded();
      } catch (error) {
        if (signal.aborted) return;
        this.#failed((error as Error).message);
      }
      const pause = this.#problem === undefined ? PROBE_MS : RETRY_MS;
      await sleep(pause, undefined, { signal }).catch(() => {});
    }
  }

  async #ask(): Promise<void> {
    if (!this.#connected) await this.#admin.connect();
    await this.#admin.describeCluster();
    this.#connected = true;
  }

  #responded(): void {
    if (this.#problem === undefined) return;
    this.#problem = undefined;
    this.#reachable.resolve();
    this.#logger.info('Kafka responds again');
  }

  #failed(reason: string): void {
    if (this.#problem === undefined) this.#reachable = pending();
    const news = this.#problem === undefined || this.#problem === NOT_YET;
    if (news) this.#logger.warn({ reason }, 'Kafka does not respond');
    this.#problem = reason;
  }
}

function pending(): PromiseWithResolvers<void> {
  const waiting = Promise.withResolvers<void>();
  // The monitor may be closed before the brokers respond, while no caller waits.
  waiting.promise.catch(() => {});
  return waiting;
}
