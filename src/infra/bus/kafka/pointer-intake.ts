import type { EachBatchPayload, KafkaMessage } from 'kafkajs';
import { within } from '../../async/timeout.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { JobClass, PointerConsumer, Slot } from '../bus.ts';
import { decodePointer } from '../messages.ts';
import type { BrokerMonitor } from './broker-monitor.ts';
import { type ClientOptions, TOPICS_KNOWN_MS } from './client.ts';
import { Offsets } from './offsets.ts';
import { SupervisedConsumer } from './supervised-consumer.ts';
import type { TopicGroup } from './topic-group.ts';

interface PointerIntakeOptions {
  readonly pool: string;
  readonly jobClass: JobClass;
  readonly topic: string;
  readonly topics: TopicGroup;
  readonly groupId: string;
  /** A member that is silent for this long is dead, and its partitions go to others; in milliseconds. */
  readonly sessionTimeoutMs: number;
  /** Partitions that are processed at the same time. */
  readonly concurrency: number;
  /** Whether it follows a stopped intake: not having joined yet is no problem then, unless joining fails. */
  readonly again: boolean;
}

/** How long a fetch, and with it a stop or a rebalance, waits for messages, in milliseconds. */
export const FETCH_WAIT_MS = 300;
const ACCEPT_TIMEOUT_MS = 10_000;

/** Errors by which the group demands that its members join again. */
const REJOIN = [
  'REBALANCE_IN_PROGRESS',
  'ILLEGAL_GENERATION',
  'UNKNOWN_MEMBER_ID',
  'NOT_COORDINATOR_FOR_GROUP',
];

/**
 * Takes the pointers of one pool and class. The wait for a slot may be as long as a render, so heartbeats continue
 * meanwhile, and when the group wants to rebalance the wait is aborted: pointers not yet taken go to the next owner of
 * the partition.
 */
export class PointerIntake {
  readonly #consumer: SupervisedConsumer;
  readonly #offsets: Offsets;
  readonly #target: PointerConsumer;
  readonly #options: PointerIntakeOptions;
  readonly #logger: Logger;
  readonly #stopping = new AbortController();
  readonly #accepting = new Set<Promise<void>>();

  constructor(
    client: ClientOptions,
    monitor: BrokerMonitor,
    target: PointerConsumer,
    options: PointerIntakeOptions,
  ) {
    const { topic, topics, groupId, sessionTimeoutMs, concurrency, again } = options;
    this.#target = target;
    this.#options = options;
    this.#logger = client.logger;
    this.#offsets = new Offsets(topic, () => this.#consumer.current());
    const plan = {
      topic,
      topics,
      fromBeginning: true,
      again,
      config: () => ({
        groupId,
        sessionTimeout: sessionTimeoutMs,
        rebalanceTimeout: Math.max(sessionTimeoutMs, ACCEPT_TIMEOUT_MS),
        heartbeatInterval: this.#heartbeatMs(),
        maxWaitTimeInMs: FETCH_WAIT_MS,
        allowAutoTopicCreation: false,
        metadataMaxAge: TOPICS_KNOWN_MS,
      }),
      run: () => ({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: concurrency,
        eachBatch: (payload: EachBatchPayload) => this.#takeBatch(payload),
      }),
      onJoin: () => this.#joined(),
      onSkipped: (partition: number, offset: string) =>
        this.#offsets.note(partition, String(BigInt(offset) - 1n)),
    };
    this.#consumer = new SupervisedConsumer(client, monitor, plan);
  }

  #joined(): void {
    this.#offsets.forget();
    const { jobClass } = this.#options;
    this.#target.regrouped?.(jobClass).catch((error: unknown) => {
      this.#logger.warn({ err: error, class: jobClass }, 'pointers not handed back');
    });
  }

  /** As `SupervisedConsumer.skips`. */
  skips(): number {
    return this.#consumer.skips();
  }

  problem(): string | undefined {
    return this.#consumer.problem();
  }

  /** Takes nothing more, waits for the pointers being accepted, commits, and leaves the group. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    try {
      // Otherwise it would be offered the same messages over and over.
      this.#consumer.current()?.pause([{ topic: this.#options.topic }]);
    } catch {
      // Not in the group at the moment: there is nothing to pause.
    }
    await within(ACCEPT_TIMEOUT_MS, 'accepting', Promise.all(this.#accepting)).catch(() => {});
    await this.#offsets.close();
    await this.#consumer.stop();
  }

  async #takeBatch(payload: EachBatchPayload): Promise<void> {
    const { batch, isRunning, isStale } = payload;
    for (const message of batch.messages) {
      if (this.#stopping.signal.aborted || !isRunning() || isStale()) return;
      await this.#take(message, payload);
      if (this.#stopping.signal.aborted) return;
    }
  }

  async #take(message: KafkaMessage, payload: EachBatchPayload): Promise<void> {
    const { topic, pool, jobClass } = this.#options;
    const { partition } = payload.batch;
    const pointer = decodePointer(message.value, pool, jobClass);
    if (pointer === undefined) {
      this.#logger.warn({ topic, partition, offset: message.offset }, 'malformed pointer skipped');
      this.#taken(message, payload);
      return;
    }
    const slot = await this.#reserve(payload.heartbeat);
    if (slot === undefined) return;
    const accepting = this.#target.accept(pointer, slot).catch((error: unknown) => {
      // The sweep publishes it again; a stopped partition would hold up all others.
      slot.release();
      this.#logger.error({ err: error, jobId: pointer.jobId }, 'pointer not accepted');
    });
    this.#accepting.add(accepting);
    // Noted first, so that a caller that waits for the acceptance finds it noted.
    const noted = accepting.then(() => this.#taken(message, payload));
    this.#accepting.add(noted);
    await noted;
    this.#accepting.delete(accepting);
    this.#accepting.delete(noted);
  }

  #taken(message: KafkaMessage, { batch, resolveOffset }: EachBatchPayload): void {
    this.#consumer.alive();
    try {
      resolveOffset(message.offset);
    } catch {
      // The partition was reassigned meanwhile; its new owner will find the job claimed.
      return;
    }
    this.#offsets.note(batch.partition, message.offset);
  }

  /** @returns undefined when stopping. @throws the group's error that demands that its members join again. */
  async #reserve(heartbeat: () => Promise<void>): Promise<Slot | undefined> {
    const given = new AbortController();
    const signal = AbortSignal.any([given.signal, this.#stopping.signal]);
    let rejoin: Error | undefined;
    const beat = async () => {
      try {
        await heartbeat();
        this.#consumer.alive();
      } catch (error) {
        if (!REJOIN.includes((error as { type?: string }).type ?? '')) return;
        rejoin = error as Error;
        given.abort();
      }
    };
    const timer = setInterval(() => void beat(), this.#heartbeatMs());
    try {
      const slot = await this.#target.reserve(this.#options.jobClass, signal);
      if (!signal.aborted) return slot;
      slot.release();
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      clearInterval(timer);
    }
    if (rejoin === undefined) return undefined;
    // The last chance to commit the progress.
    await this.#offsets.commit();
    throw rejoin;
  }

  #heartbeatMs(): number {
    // The response to a heartbeat reports a rebalance, and all members wait for the last one to notice.
    return Math.min(1000, this.#options.sessionTimeoutMs / 5);
  }
}
