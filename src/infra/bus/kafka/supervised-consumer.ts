import { setTimeout as sleep } from 'node:timers/promises';
import type { Consumer, ConsumerConfig, ConsumerRunConfig } from 'kafkajs';
import { backoffMs } from '../../async/backoff.ts';
import { within } from '../../async/timeout.ts';
import { unlessAborted } from '../../async/unless-aborted.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { BrokerMonitor } from './broker-monitor.ts';
import { type ClientOptions, createClient } from './client.ts';
import { isUnreadableBatch } from './compressed-batches.ts';
import type { TopicGroup } from './topic-group.ts';

const BACKOFF_FIRST_MS = 250;
const BACKOFF_MAX_MS = 3000;
/** Milliseconds, longer than any rebalance: a consumer that is silent for so long while brokers respond hangs. */
const STALL_MS = 30_000;
const CHECK_MS = 5000;
const CLOSE_TIMEOUT_MS = 5000;

interface ConsumerPlan {
  readonly topics: readonly string[];
  /** What makes the topics. */
  readonly group: TopicGroup;
  /** Where a consumer group without a committed offset begins: at the first message, or at the next one. */
  readonly fromBeginning: boolean;
  /** Whether it follows a consumer that was stopped on purpose: then it is not reported as missing while it joins. */
  readonly again?: boolean;
  /** These are called for each consumer that is made: the first, and each replacement. */
  prepare?(): Promise<void>;
  config(): ConsumerConfig;
  run(consumer: Consumer): ConsumerRunConfig;
  /** Its group has been joined: offsets that were noted before are void. */
  onJoin?(): void;
  /** It will be replaced. */
  onEnd?(): void;
  /** Everything before this offset has been skipped. */
  onSkipped?(topic: string, partition: number, offset: string): void;
}

/** Offsets by topic and partition. */
type Ends = ReadonlyMap<string, ReadonlyMap<number, string>>;

/**
 * A consumer that is replaced when it fails for any reason. kafkajs restarts a consumer after some errors, gives up for
 * good after others, and sometimes just stops; each of these cases leads to a replacement.
 */
export class SupervisedConsumer {
  readonly #client: ClientOptions;
  readonly #monitor: BrokerMonitor;
  readonly #plan: ConsumerPlan;
  readonly #logger: Logger;
  readonly #stopped = new AbortController();
  readonly #running: Promise<void>;
  readonly #ready = Promise.withResolvers<void>();
  #current: Consumer | undefined;
  #replace: ((reason: Error) => void) | undefined;
  #problem: string | undefined;
  #lastSign = 0;
  #skips = 0;

  constructor(client: ClientOptions, monitor: BrokerMonitor, plan: ConsumerPlan) {
    this.#client = client;
    this.#monitor = monitor;
    this.#plan = plan;
    this.#problem = plan.again ? undefined : 'not connected yet';
    this.#logger = client.logger.child({ topic: plan.topics.join() });
    this.#running = this.#run();
  }

  /** Undefined while it takes messages. */
  problem(): string | undefined {
    return this.#problem;
  }

  /** Resolves when it takes messages for the first time. */
  ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** How often it has skipped messages because a batch could not be read. */
  skips(): number {
    return this.#skips;
  }

  /** The present consumer, if there is one. */
  current(): Consumer | undefined {
    return this.#current;
  }

  /** To be called while a batch is processed, when kafkajs fetches nothing. */
  alive(): void {
    this.#lastSign = performance.now();
  }

  /** Has it replaced by another one. */
  replace(reason: string): void {
    this.#replace?.(new Error(reason));
  }

  /** Leaves the group, for at most five seconds. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    let failures = 0;
    let skipTo: Ends | undefined;
    while (!signal.aborted) {
      const began = performance.now();
      const reason = await this.#consumeOnce(failures > 0, skipTo).catch((error: unknown) => error as Error);
      this.#current = undefined;
      if (signal.aborted) return;
      this.#plan.onEnd?.();
      this.#problem = reason?.message ?? 'ended';
      failures = performance.now() - began > STALL_MS ? 1 : failures + 1;
      this.#logger.warn({ reason: this.#problem, failures }, 'consumer is replaced');
      skipTo = isUnreadableBatch(reason) ? await this.#ends() : undefined;
      const pauseMs = backoffMs(failures, BACKOFF_FIRST_MS, BACKOFF_MAX_MS, this.#client.random);
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  /**
   * Where the partitions end: a batch that cannot be read does not say in which of them it is. Its consumer would get
   * no further, and messages only notify: what is skipped here, sweeps publish again.
   */
  async #ends(): Promise<Ends | undefined> {
    const { topics, group } = this.#plan;
    try {
      return new Map(
        await Promise.all(topics.map(async (topic) => [topic, await group.ends(topic)] as const)),
      );
    } catch (error) {
      // The next consumer meets the batch again.
      this.#logger.warn({ err: error }, 'the ends of topics could not be looked up');
      return undefined;
    }
  }

  /** @returns why it ended, unless it was stopped. @param skipTo the offsets to begin at; default where it was. */
  async #consumeOnce(again: boolean, skipTo?: Ends): Promise<Error | undefined> {
    const { signal } = this.#stopped;
    const { topics, group, fromBeginning } = this.#plan;
    await unlessAborted(signal, again ? group.ensureAgain() : group.ensure());
    await unlessAborted(signal, this.#plan.prepare?.() ?? Promise.resolve());
    const done = new AbortController();
    const consumer = createClient(this.#client, done.signal).consumer({
      ...this.#plan.config(),
      // This class decides whether it is replaced.
      retry: { restartOnFailure: async () => false },
    });
    try {
      await unlessAborted(signal, consumer.connect());
      await unlessAborted(signal, consumer.subscribe({ topics: [...topics], fromBeginning }));
      const crashed = this.#watch(consumer, skipTo);
      // It resolves when the group is joined; errors before and after are reported as a crash.
      consumer.run(this.#plan.run(consumer)).catch(crashed.reject);
      this.#current = consumer;
      return await unlessAborted(
        signal,
        Promise.race([crashed.promise, this.#stall(AbortSignal.any([signal, done.signal]))]),
      );
    } finally {
      done.abort();
      await within(CLOSE_TIMEOUT_MS, 'leaving the group', consumer.disconnect()).catch(() => {});
    }
  }

  #watch(consumer: Consumer, skipTo?: Ends): PromiseWithResolvers<Error> {
    const crashed = Promise.withResolvers<Error>();
    crashed.promise.catch(() => {});
    this.#replace = crashed.resolve;
    const { CRASH, FETCH, GROUP_JOIN, HEARTBEAT, REQUEST } = consumer.events;
    // Whether messages arrive: a broker has responded to a fetch since the group was joined.
    let fetches = false;
    this.alive();
    consumer.on(CRASH, ({ payload }) => crashed.resolve(payload.error));
    consumer.on(HEARTBEAT, () => this.alive());
    consumer.on(GROUP_JOIN, ({ payload }) => {
      fetches = false;
      this.alive();
      this.#plan.onJoin?.();
      if (skipTo !== undefined) this.#skip(consumer, payload.memberAssignment, skipTo);
    });
    consumer.on(REQUEST, ({ payload }) => {
      fetches ||= payload.apiName === 'Fetch';
      this.#monitor.heard();
    });
    consumer.on(FETCH, () => {
      // kafkajs reports a fetch that failed, too: before the brokers have said where to begin, later messages would be skipped.
      if (!fetches) return;
      this.alive();
      this.#problem = undefined;
      this.#ready.resolve();
    });
    return crashed;
  }

  /** Before the first fetch, which begins once the group has been joined. */
  #skip(consumer: Consumer, assigned: Readonly<Record<string, readonly number[]>>, ends: Ends): void {
    for (const [topic, partitions] of Object.entries(assigned)) {
      for (const partition of partitions) {
        const offset = ends.get(topic)?.get(partition);
        if (offset === undefined) continue;
        consumer.seek({ topic, partition, offset });
        this.#plan.onSkipped?.(topic, partition, offset);
      }
    }
    this.#skips += 1;
    this.#logger.error({ assigned }, 'messages are skipped: a batch among them cannot be read');
  }

  /** Resolves when the consumer hangs although the brokers respond. */
  async #stall(signal: AbortSignal): Promise<Error> {
    for (;;) {
      await sleep(CHECK_MS, undefined, { signal });
      // While the brokers are away the consumer is retrying; its time starts anew when they are back.
      if (this.#monitor.problem() !== undefined) this.alive();
      const quietMs = performance.now() - this.#lastSign;
      if (quietMs > STALL_MS) return new Error(`no sign of life for ${Math.round(quietMs)} ms`);
    }
  }
}
