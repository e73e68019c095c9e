import type { Kafka } from 'kafkajs';
import { within } from '../async/timeout.ts';
import type { Logger } from '../telemetry/logger.ts';
import {
  type Bus,
  type EventTopic,
  JOB_CLASSES,
  type JobEvent,
  type JobPointer,
  type PointerConsumer,
  type Subscription,
  topicOf,
} from './bus.ts';
import { EventHandlers } from './event-handlers.ts';
import { BrokerMonitor } from './kafka/broker-monitor.ts';
import { createClient, type KafkaSecurity } from './kafka/client.ts';
import { EventIntake } from './kafka/event-intake.ts';
import { PointerIntake } from './kafka/pointer-intake.ts';
import { Publisher } from './kafka/publisher.ts';
import { TopicGroup } from './kafka/topic-group.ts';
import { eventTopic, eventTopics, pointerTopic, pointerTopics, type TopicSettings } from './kafka/topics.ts';
import { encodeEvent, encodePointer } from './messages.ts';

/** The outcome of each message: for counters. */
type PublishHook = (kind: 'pointer' | 'event', outcome: 'sent' | 'failed') => void;

export interface KafkaBusOptions {
  /** host:port of at least one broker. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  /** The prefix of consumer groups; each pool and class has a group, whose workers share the pointers. */
  readonly consumerGroup: string;
  readonly topicPrefix: string;
  readonly logger: Logger;
  /** Of the pointer topics when they are created here; default 12. */
  readonly partitions?: number;
  /** The most partitions that `makeRoom` gives a pointer topic; default 100. */
  readonly maxPartitions?: number;
  /** Of all topics when they are created here; default 1. */
  readonly replicationFactor?: number;
  /** How long a worker may be silent before its partitions go to others, in milliseconds; default 6000. */
  readonly sessionTimeoutMs?: number;
  /** How long a pointer may wait for the broker before its publication fails, in milliseconds; default 10,000. */
  readonly publishTimeoutMs?: number;
  readonly onPublish?: PublishHook;
  /** A number in [0, 1): spreads attempts that failed together; default Math.random. */
  readonly random?: () => number;
  /** Default: neither TLS nor SASL. */
  readonly security?: KafkaSecurity;
}

const DEFAULTS = {
  partitions: 12,
  maxPartitions: 100,
  replicationFactor: 1,
  sessionTimeoutMs: 6000,
  publishTimeoutMs: 10_000,
  onPublish: () => undefined,
  random: Math.random,
  security: {},
};

/** In milliseconds. A later event is of no use: its receiver has read the record by itself. */
const EVENT_DEADLINE_MS = 5000;
const MAX_WAITING = 10_000;
/** Bounds a check of a pool's topics, which are created when they are missing; in milliseconds. */
const ROOM_WAIT_MS = 20_000;
/** Bounds the wait for the first events, so that a process starts without the broker; in milliseconds. */
const SUBSCRIBE_WAIT_MS = 3000;

/**
 * The bus of a cluster. It is available at once, with or without the broker, and connects in the background;
 * `problem()` says what is missing. It recovers when the broker is available again.
 */
export async function createKafkaBus(options: KafkaBusOptions): Promise<Bus> {
  return new KafkaBus(options);
}

/** State of the bus for each pool that it publishes to or consumes. */
interface Pool {
  readonly topics: TopicGroup;
  /** Made when the first pointer of the pool is published. */
  publisher?: Publisher;
}

class KafkaBus implements Bus {
  readonly #options: Required<KafkaBusOptions>;
  readonly #topicSettings: TopicSettings;
  readonly #kafka: Kafka;
  readonly #monitor: BrokerMonitor;
  readonly #pools = new Map<string, Pool>();
  readonly #eventTopics: TopicGroup;
  readonly #events: Publisher;
  readonly #handlers: EventHandlers;
  readonly #eventIntakes = new Map<EventTopic, EventIntake>();
  #pointerIntakes: readonly PointerIntake[] = [];
  #hasConsumed = false;
  #closing: Promise<void> | undefined;

  constructor(options: KafkaBusOptions) {
    this.#options = { ...DEFAULTS, ...options };
    const { topicPrefix: prefix, partitions, replicationFactor, logger } = this.#options;
    this.#handlers = new EventHandlers(logger);
    this.#topicSettings = { prefix, partitions, replicationFactor };
    this.#kafka = createClient(this.#options);
    this.#monitor = new BrokerMonitor(this.#kafka, logger);
    this.#eventTopics = new TopicGroup(this.#kafka, this.#monitor, eventTopics(this.#topicSettings));
    this.#events = this.#openPublisher('event', this.#eventTopics);
  }

  async publishPointer(pointer: JobPointer): Promise<void> {
    if (this.#closing !== undefined) throw new Error('The bus is closed.');
    const pool = this.#pool(pointer.pool);
    pool.publisher ??= this.#openPublisher('pointer', pool.topics);
    await pool.publisher.publish(pointerTopic(this.#options.topicPrefix, pointer.pool, pointer.class), {
      key: pointer.routingKey,
      value: encodePointer(pointer),
    });
  }

  /** A worker without a partition gets nothing. Partitions are only ever added, and up to a bound. */
  async makeRoom(pool: string, workers: number): Promise<number> {
    const { topics } = this.#pool(pool);
    const away = this.#monitor.problem();
    if (away !== undefined) throw new Error(`Kafka: ${away}`);
    const partitions = await within(ROOM_WAIT_MS, 'counting partitions', topics.partitions());
    const wanted = Math.min(workers, this.#options.maxPartitions);
    if (wanted <= partitions) return partitions;
    try {
      await topics.raise(wanted);
      this.#options.logger.info(
        { pool, from: partitions, to: wanted },
        'the topics of a pool have more partitions',
      );
      return wanted;
    } catch (error) {
      this.#options.logger.warn(
        { err: error, pool, partitions, wanted },
        'the topics of a pool could not be given more partitions; workers past their number get nothing',
      );
      return partitions;
    }
  }

  /** Resolves at once: no caller waits for an event to arrive. */
  async publishEvent(event: JobEvent): Promise<void> {
    this.#events
      .publish(eventTopic(this.#options.topicPrefix, topicOf(event)), { value: encodeEvent(event) })
      .catch((error: unknown) => {
        this.#options.logger.debug({ err: error, jobId: event.jobId }, 'event not published');
      });
  }

  async consumePointers(pool: string, consumer: PointerConsumer): Promise<Subscription> {
    if (this.#pointerIntakes.length > 0) throw new Error('The bus has a consumer already.');
    const { consumerGroup, topicPrefix, sessionTimeoutMs, partitions, maxPartitions } = this.#options;
    const { topics } = this.#pool(pool);
    const intakes = JOB_CLASSES.map(
      (jobClass) =>
        new PointerIntake(this.#options, this.#monitor, consumer, {
          pool,
          jobClass,
          topic: pointerTopic(topicPrefix, pool, jobClass),
          topics,
          groupId: `${consumerGroup}.${pool}.${jobClass}`,
          sessionTimeoutMs,
          concurrency: Math.max(partitions, maxPartitions),
          again: this.#hasConsumed,
        }),
    );
    this.#hasConsumed = true;
    this.#pointerIntakes = intakes;
    return {
      stop: async () => {
        await Promise.all(intakes.map((intake) => intake.stop()));
        if (this.#pointerIntakes === intakes) this.#pointerIntakes = [];
      },
    };
  }

  /** Resolves when events arrive, or after three seconds: then they arrive as soon as the broker is there. */
  async subscribeEvents(topic: EventTopic, handler: (event: JobEvent) => void): Promise<Subscription> {
    const end = this.#handlers.add(topic, handler);
    const intake = this.#eventIntakes.get(topic) ?? this.#openEventIntake(topic);
    await within(SUBSCRIBE_WAIT_MS, 'the first poll for events', intake.ready()).catch(() => {});
    return { stop: async () => end() };
  }

  #openEventIntake(topic: EventTopic): EventIntake {
    const { topicPrefix, sessionTimeoutMs } = this.#options;
    const intake = new EventIntake(this.#options, this.#monitor, (event) => this.#handlers.deliver(event), {
      topic: eventTopic(topicPrefix, topic),
      topics: this.#eventTopics,
      groupPrefix: `${topicPrefix}.events.${topic}`,
      sessionTimeoutMs,
    });
    this.#eventIntakes.set(topic, intake);
    return intake;
  }

  /** The state of a pool. Its topics are looked up when they are first needed. */
  #pool(name: string): Pool {
    const known = this.#pools.get(name);
    if (known !== undefined) return known;
    const topics = new TopicGroup(this.#kafka, this.#monitor, pointerTopics(this.#topicSettings, name));
    const pool: Pool = { topics };
    this.#pools.set(name, pool);
    return pool;
  }

  #openPublisher(kind: 'pointer' | 'event', topics: TopicGroup): Publisher {
    const { publishTimeoutMs, onPublish, random } = this.#options;
    return new Publisher(this.#kafka, topics, {
      acks: kind === 'pointer' ? -1 : 1,
      deadlineMs: kind === 'pointer' ? publishTimeoutMs : EVENT_DEADLINE_MS,
      maxWaiting: MAX_WAITING,
      random,
      onPublished: (outcome) => onPublish(kind, outcome),
    });
  }

  problem(): string | undefined {
    if (this.#closing !== undefined) return 'the bus is closed';
    const errors = [
      this.#monitor.problem(),
      ...[...this.#eventIntakes.values()].map((intake) => intake.problem()),
      ...this.#pointerIntakes.map((intake) => intake.problem()),
    ];
    const problem = errors.find((found) => found !== undefined);
    return problem === undefined ? undefined : `Kafka: ${problem}`;
  }

  /** Of the present consumers. */
  skips(): number {
    const intakes = [...this.#eventIntakes.values(), ...this.#pointerIntakes];
    return intakes.reduce((sum, intake) => sum + intake.skips(), 0);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([
      ...this.#pointerIntakes.map((intake) => intake.stop()),
      ...[...this.#pools.values()].map(({ publisher }) => publisher?.close()),
      this.#events.close(),
    ]);
    this.#pointerIntakes = [];
    // After the last event has been sent: this very process may be waiting for it.
    await Promise.all([...this.#eventIntakes.values()].map((intake) => intake.stop()));
    this.#handlers.clear();
    await this.#monitor.close();
  }
}
