import type { Kafka } from 'kafkajs';
import { within } from '../async/timeout.ts';
import type { Logger } from '../telemetry/logger.ts';
import {
  type Bus,
  type EventTopic,
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
import { LaneIntake } from './kafka/lane-intake.ts';
import { LaneRouter } from './kafka/lane-router.ts';
import { Publisher } from './kafka/publisher.ts';
import { TopicGroup } from './kafka/topic-group.ts';
import {
  ADDRESSES,
  earlierTopic,
  eventTopic,
  eventTopics,
  laneTopic,
  laneTopics,
  type TopicSettings,
} from './kafka/topics.ts';
import type { LaneDirectory } from './lanes.ts';
import { encodeEvent, encodePointer } from './messages.ts';

/** The outcome of each message: for counters. */
type PublishHook = (kind: 'pointer' | 'event', outcome: 'sent' | 'failed') => void;

export interface KafkaBusOptions {
  /** host:port of at least one broker. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  /** Of topics and consumer groups. */
  readonly topicPrefix: string;
  readonly lanes: LaneDirectory;
  readonly logger: Logger;
  /** Of all topics when they are created here; default 1. */
  readonly replicationFactor?: number;
  /** How long a reader may be silent before another one reads in its place, in milliseconds; default 6000. */
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
/** Every worker reads all cancels. */
const ALL_CANCELS = 0;
/** Bounds the wait for the first events, so that a process starts without the broker; in milliseconds. */
const SUBSCRIBE_WAIT_MS = 3000;

/**
 * The bus of a cluster. It is available at once, with or without the broker, and connects in the background;
 * `problem()` says what is missing. It recovers when the broker is available again.
 */
export async function createKafkaBus(options: KafkaBusOptions): Promise<Bus> {
  return new KafkaBus(options);
}

class KafkaBus implements Bus {
  readonly address: number;
  readonly #options: Required<KafkaBusOptions>;
  readonly #topicSettings: TopicSettings;
  readonly #kafka: Kafka;
  readonly #monitor: BrokerMonitor;
  readonly #router: LaneRouter;
  /** What makes the topics of each pool that this process publishes to or serves. */
  readonly #pools = new Map<string, TopicGroup>();
  readonly #pointers: Publisher;
  readonly #eventTopics: TopicGroup;
  readonly #events: Publisher;
  readonly #handlers: EventHandlers;
  readonly #eventIntakes = new Map<EventTopic, EventIntake>();
  #laneIntake: LaneIntake | undefined;
  #hasConsumed = false;
  #closing: Promise<void> | undefined;

  constructor(options: KafkaBusOptions) {
    this.#options = { ...DEFAULTS, ...options };
    const { topicPrefix: prefix, replicationFactor, lanes, logger } = this.#options;
    this.#handlers = new EventHandlers(logger);
    this.address = Math.floor(this.#options.random() * ADDRESSES);
    this.#router = new LaneRouter(lanes, logger);
    this.#topicSettings = { prefix, replicationFactor };
    this.#kafka = createClient(this.#options);
    this.#monitor = new BrokerMonitor(this.#kafka, logger);
    this.#eventTopics = new TopicGroup(this.#kafka, this.#monitor, eventTopics(this.#topicSettings));
    this.#pointers = this.#openPublisher('pointer');
    this.#events = this.#openPublisher('event');
  }

  async publishPointer(pointer: JobPointer): Promise<void> {
    await this.#send(pointer, await this.#router.laneOf(pointer.pool, pointer.routingKey));
  }

  async offerPointer(pointer: JobPointer): Promise<boolean> {
    const lane = await this.#router.idleLane(pointer.pool, this.#laneIntake?.lane);
    if (lane !== undefined) await this.#send(pointer, lane);
    return lane !== undefined;
  }

  async #send(pointer: JobPointer, partition: number | undefined): Promise<void> {
    if (this.#closing !== undefined) throw new Error('The bus is closed.');
    const { topicPrefix } = this.#options;
    const { pool, class: jobClass, routingKey: key } = pointer;
    const value = encodePointer(pointer);
    if (partition === undefined)
      await this.#pointers.publish(earlierTopic(topicPrefix, pool, jobClass), { key, value });
    else {
      const topic = laneTopic(topicPrefix, pool, jobClass);
      await this.#pointers.publish(topic, { key, value, partition }, this.#pool(pool));
    }
  }

  /** Resolves at once: no caller waits for an event to arrive. */
  async publishEvent(event: JobEvent): Promise<void> {
    const topic = topicOf(event);
    const partition = topic === 'cancels' ? ALL_CANCELS : event.to;
    if (partition === undefined) return;
    const value = encodeEvent(event);
    this.#events
      .publish(eventTopic(this.#options.topicPrefix, topic), { value, partition }, this.#eventTopics)
      .catch((error: unknown) => {
        this.#options.logger.debug({ err: error, jobId: event.jobId }, 'event not published');
      });
  }

  async consumePointers(pool: string, consumer: PointerConsumer): Promise<Subscription> {
    if (this.#laneIntake !== undefined) throw new Error('The bus has a consumer already.');
    const { topicPrefix, lanes, sessionTimeoutMs } = this.#options;
    const group = this.#pool(pool);
    const intake = new LaneIntake(this.#options, this.#monitor, consumer, {
      ...{ pool, topicPrefix, group, lanes, sessionTimeoutMs, again: this.#hasConsumed },
    });
    this.#hasConsumed = true;
    this.#laneIntake = intake;
    return {
      stop: async () => {
        await intake.stop();
        if (this.#laneIntake === intake) this.#laneIntake = undefined;
        this.#router.forget(pool);
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
      partition: topic === 'cancels' ? ALL_CANCELS : this.address,
      groupPrefix: `${topicPrefix}.events.${topic}`,
      sessionTimeoutMs,
    });
    this.#eventIntakes.set(topic, intake);
    return intake;
  }

  /** The topics of a pool, which are looked up when they are first needed. */
  #pool(name: string): TopicGroup {
    const known = this.#pools.get(name);
    if (known !== undefined) return known;
    const topics = new TopicGroup(this.#kafka, this.#monitor, laneTopics(this.#topicSettings, name));
    this.#pools.set(name, topics);
    return topics;
  }

  #openPublisher(kind: 'pointer' | 'event'): Publisher {
    const { publishTimeoutMs, onPublish, random } = this.#options;
    return new Publisher(this.#kafka, {
      acks: kind === 'pointer' ? -1 : 1,
      deadlineMs: kind === 'pointer' ? publishTimeoutMs : EVENT_DEADLINE_MS,
      maxWaiting: MAX_WAITING,
      random,
      onPublished: (outcome) => onPublish(kind, outcome),
    });
  }

  problem(): string | undefined {
    if (this.#closing !== undefined) return 'the bus is closed';
    const errors = [this.#monitor.problem(), ...this.#intakes.map((intake) => intake.problem())];
    const problem = errors.find((found) => found !== undefined);
    return problem === undefined ? undefined : `Kafka: ${problem}`;
  }

  /** Of the present consumers. */
  skips(): number {
    return this.#intakes.reduce((sum, intake) => sum + intake.skips(), 0);
  }

  get #intakes(): (EventIntake | LaneIntake)[] {
    return [...this.#eventIntakes.values(), ...(this.#laneIntake === undefined ? [] : [this.#laneIntake])];
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([this.#laneIntake?.stop(), this.#pointers.close(), this.#events.close()]);
    this.#laneIntake = undefined;
    // After the last event has been sent: this very process may be waiting for it.
    await Promise.all([...this.#eventIntakes.values()].map((intake) => intake.stop()));
    this.#handlers.clear();
    await this.#monitor.close();
  }
}
