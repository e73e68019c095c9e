import { setTimeout as sleep } from 'node:timers/promises';
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
import { createClient } from './kafka/client.ts';
import { EventIntake } from './kafka/event-intake.ts';
import { Link } from './kafka/link.ts';
import { PointerIntake } from './kafka/pointer-intake.ts';
import { Publisher } from './kafka/publisher.ts';
import { ensureTopics, type TopicNames, topicNames } from './kafka/topics.ts';
import { encodeEvent, encodePointer } from './messages.ts';

/** How each message fared: for counters. */
export type PublishHook = (kind: 'pointer' | 'event', outcome: 'sent' | 'failed') => void;

export interface KafkaBusOptions {
  /** host:port of one broker or more. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  /** Workers of the same group share the pointers; each class has a group of its own under this name. */
  readonly consumerGroup: string;
  readonly topicPrefix: string;
  readonly logger: Logger;
  /** Of the pointer topics when they are created here; default 12. */
  readonly partitions?: number;
  /** Of all topics when they are created here; default 1. */
  readonly replicationFactor?: number;
  /** How long a worker may be silent before its partitions go to others, in milliseconds; default 6000. */
  readonly sessionTimeoutMs?: number;
  /** How long a pointer may wait for the broker before its publisher hears that it failed; default 10,000. */
  readonly publishTimeoutMs?: number;
  readonly onPublish?: PublishHook;
}

/** An event that is later than this is of no use: whoever waits for it has looked for himself. */
const EVENT_DEADLINE_MS = 5000;
const MAX_WAITING = 10_000;
/** Bounds the wait for the first events, so that a process starts without the broker. */
const SUBSCRIBE_WAIT_MS = 3000;

/**
 * The bus of a cluster. It is there at once, whether or not the broker is, and connects behind the scenes; `problem()`
 * says what is missing. All parts come back by themselves when the broker does.
 */
export async function createKafkaBus(options: KafkaBusOptions): Promise<Bus> {
  return new KafkaBus(options);
}

class KafkaBus implements Bus {
  readonly #options: KafkaBusOptions;
  readonly #topics: TopicNames;
  readonly #link: Link;
  readonly #pointers: Publisher;
  readonly #events: Publisher;
  readonly #handlers: EventHandlers;
  readonly #eventIntakes = new Map<EventTopic, EventIntake>();
  #pointerIntakes: readonly PointerIntake[] = [];
  #closing: Promise<void> | undefined;

  constructor(options: KafkaBusOptions) {
    const { partitions = 12, replicationFactor = 1, publishTimeoutMs = 10_000, onPublish, logger } = options;
    this.#options = options;
    this.#handlers = new EventHandlers(logger);
    this.#topics = topicNames(options.topicPrefix);
    const kafka = createClient(options);
    this.#link = new Link(
      kafka,
      (admin) => ensureTopics(admin, this.#topics, { partitions, replicationFactor }),
      logger,
    );
    const publisher = (kind: 'pointer' | 'event', acks: -1 | 1, deadlineMs: number) =>
      new Publisher(kafka, this.#link, {
        acks,
        deadlineMs,
        maxWaiting: MAX_WAITING,
        onPublished: (outcome) => onPublish?.(kind, outcome),
      });
    this.#pointers = publisher('pointer', -1, publishTimeoutMs);
    this.#events = publisher('event', 1, EVENT_DEADLINE_MS);
  }

  publishPointer(pointer: JobPointer): Promise<void> {
    return this.#pointers.publish(this.#topics.pointers[pointer.class], {
      key: pointer.routingKey,
      value: encodePointer(pointer),
    });
  }

  /** Resolves at once: nobody waits for an event to arrive. */
  async publishEvent(event: JobEvent): Promise<void> {
    this.#events
      .publish(this.#topics.events[topicOf(event)], { value: encodeEvent(event) })
      .catch((error: unknown) => {
        this.#options.logger.debug({ err: error, jobId: event.jobId }, 'event not published');
      });
  }

  async consumePointers(consumer: PointerConsumer): Promise<Subscription> {
    if (this.#pointerIntakes.length > 0) throw new Error('The bus has a consumer already.');
    const { consumerGroup, sessionTimeoutMs = 6000, partitions = 12 } = this.#options;
    const intakes = JOB_CLASSES.map(
      (jobClass) =>
        new PointerIntake(this.#options, this.#link, consumer, {
          jobClass,
          topic: this.#topics.pointers[jobClass],
          groupId: `${consumerGroup}.${jobClass}`,
          sessionTimeoutMs,
          concurrency: partitions,
        }),
    );
    this.#pointerIntakes = intakes;
    return {
      stop: async () => {
        await Promise.all(intakes.map((intake) => intake.stop()));
        if (this.#pointerIntakes === intakes) this.#pointerIntakes = [];
      },
    };
  }

  /** Resolves when events arrive, or after three seconds: then they do as soon as the broker is there. */
  async subscribeEvents(topic: EventTopic, handler: (event: JobEvent) => void): Promise<Subscription> {
    const end = this.#handlers.add(topic, handler);
    const intake = this.#eventIntakes.get(topic) ?? this.#openEventIntake(topic);
    await Promise.race([intake.ready(), sleep(SUBSCRIBE_WAIT_MS, undefined, { ref: false })]);
    return { stop: async () => end() };
  }

  #openEventIntake(topic: EventTopic): EventIntake {
    const { topicPrefix, sessionTimeoutMs = 6000 } = this.#options;
    const intake = new EventIntake(this.#options, this.#link, (event) => this.#handlers.deliver(event), {
      topic: this.#topics.events[topic],
      groupPrefix: `${topicPrefix}.events.${topic}`,
      sessionTimeoutMs,
    });
    this.#eventIntakes.set(topic, intake);
    return intake;
  }

  problem(): string | undefined {
    if (this.#closing !== undefined) return 'the bus is closed';
    const faults = [
      this.#link.problem(),
      ...[...this.#eventIntakes.values()].map((intake) => intake.problem()),
      ...this.#pointerIntakes.map((intake) => intake.problem()),
    ];
    const fault = faults.find((found) => found !== undefined);
    return fault === undefined ? undefined : `Kafka: ${fault}`;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([
      ...this.#pointerIntakes.map((intake) => intake.stop()),
      this.#pointers.close(),
      this.#events.close(),
    ]);
    this.#pointerIntakes = [];
    // After the last event has been sent, for it may be awaited in this very process.
    await Promise.all([...this.#eventIntakes.values()].map((intake) => intake.stop()));
    this.#handlers.clear();
    await this.#link.close();
  }
}
