import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin, Kafka } from 'kafkajs';
import type { Logger } from '../../telemetry/logger.ts';

const PROBE_MS = 2000;
const PROBE_TIMEOUT_MS = 3000;
/** Topics are made by all their brokers. */
const PREPARE_TIMEOUT_MS = 20_000;
const RETRY_MS = 500;
const UP_POLL_MS = 100;
const CLOSE_TIMEOUT_MS = 2000;

/**
 * Knows whether the brokers answer: prepares the topics as soon as they do for the first time, and asks every two
 * seconds from then on.
 */
export class Link {
  readonly #admin: Admin;
  readonly #logger: Logger;
  readonly #prepare: (admin: Admin) => Promise<void>;
  readonly #stopped = new AbortController();
  readonly #running: Promise<void>;
  readonly #prepared = Promise.withResolvers<void>();
  #problem: string | undefined = 'not connected yet';

  constructor(kafka: Kafka, prepare: (admin: Admin) => Promise<void>, logger: Logger) {
    this.#admin = kafka.admin();
    this.#prepare = prepare;
    this.#logger = logger;
    // Nobody may be waiting when the link is closed before it was up.
    this.#prepared.promise.catch(() => {});
    this.#running = this.#run();
  }

  /** Undefined while the brokers answer. */
  problem(): string | undefined {
    return this.#problem;
  }

  /** Resolves when the topics are there; rejects when the link is closed before. */
  prepared(): Promise<void> {
    return this.#prepared.promise;
  }

  /** Waits for brokers that answer, and looks for the topics again: they may have come back without them. */
  async prepareAgain(signal: AbortSignal): Promise<void> {
    while (this.#problem !== undefined) await sleep(UP_POLL_MS, undefined, { signal });
    await this.#prepare(this.#admin);
  }

  async close(): Promise<void> {
    this.#stopped.abort();
    this.#prepared.reject(new Error('The bus is closed.'));
    await this.#running;
    await Promise.race([
      this.#admin.disconnect().catch(() => {}),
      sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false }),
    ]);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    let prepared = false;
    while (!signal.aborted) {
      try {
        await inTime(this.#ask(prepared), prepared ? PROBE_TIMEOUT_MS : PREPARE_TIMEOUT_MS, signal);
        prepared = true;
        this.#prepared.resolve();
        if (this.#problem !== undefined) this.#logger.info('Kafka answers');
        this.#problem = undefined;
      } catch (error) {
        if (signal.aborted) return;
        const reason = (error as Error).message;
        if (this.#problem === undefined || !prepared) this.#logger.warn({ reason }, 'Kafka does not answer');
        this.#problem = reason;
      }
      const pause = this.#problem === undefined ? PROBE_MS : RETRY_MS;
      await sleep(pause, undefined, { signal }).catch(() => {});
    }
  }

  async #ask(prepared: boolean): Promise<void> {
    if (!prepared) {
      await this.#admin.connect();
      await this.#prepare(this.#admin);
    } else {
      await this.#admin.describeCluster();
    }
  }
}

/** Rejects when the work takes too long or is no longer wanted; the work itself cannot be called off. */
async function inTime(work: Promise<void>, limitMs: number, signal: AbortSignal): Promise<void> {
  const done = new AbortController();
  const limit = sleep(limitMs, undefined, { signal: AbortSignal.any([signal, done.signal]) }).then(() => {
    throw new Error(`no answer within ${limitMs} ms`);
  });
  limit.catch(() => {});
  work.catch(() => {});
  try {
    await Promise.race([work, limit]);
  } finally {
    done.abort();
  }
}
