import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs, {
  type ICustomPartitioner,
  type Kafka,
  type Message,
  Partitioners,
  type Producer,
} from 'kafkajs';
import { backoffMs } from '../../async/backoff.ts';
import { within } from '../../async/timeout.ts';
import type { TopicGroup } from './topic-group.ts';

/** How long the broker itself may gather acknowledgements, in milliseconds. */
const ACK_TIMEOUT_MS = 5000;
const BACKOFF_FIRST_MS = 250;
const BACKOFF_MAX_MS = 1000;
const CLOSE_TIMEOUT_MS = 3000;
/** A producer knows within this time that a topic has more partitions, or other leaders; in milliseconds. */
const TOPICS_KNOWN_MS = 5000;

interface Waiting {
  readonly topic: string;
  /** What makes the topic; undefined when others do. */
  readonly group: TopicGroup | undefined;
  readonly message: Message;
  /** Whether the publication is settled. */
  readonly settled: () => boolean;
  /** Settles the publication as sent, or as failed with an error. Only the first call counts. */
  readonly settle: (error?: Error) => void;
}

interface PublisherOptions {
  /** -1: all in-sync replicas; 1: the leader. */
  readonly acks: -1 | 1;
  /** In milliseconds. A message that has not arrived by then has failed; it may still arrive later. */
  readonly deadlineMs: number;
  /** Messages that may wait for the broker; further ones are rejected. */
  readonly maxWaiting: number;
  /** A number in [0, 1): spreads attempts that failed together. */
  readonly random: () => number;
  readonly onPublished?: (outcome: 'sent' | 'failed') => void;
}

/**
 * Sends messages, those of one moment together: one request is on its way at a time, and whatever is published meanwhile
 * goes with the next. So an idle bus adds no wait, and a busy one few requests. A message joins once its topic is there,
 * and a producer that has met a missing topic is replaced: kafkajs looks up all topics of a producer together, and fails
 * for all of them when one is missing.
 */
export class Publisher {
  readonly #kafka: Kafka;
  readonly #options: PublisherOptions;
  #producer: Producer;
  /** In order of publication, without messages past their deadlines. */
  #waiting = new Set<Waiting>();
  #inFlight: readonly Waiting[] = [];
  #sending: Promise<void> | undefined;
  #connected = false;
  /** Messages whose topics are being looked up or made. */
  #entering = 0;
  /** Failed attempts in a row, and the error of the last. */
  #failures = 0;
  #lastFailure: unknown;
  #closed = false;

  constructor(kafka: Kafka, options: PublisherOptions) {
    this.#kafka = kafka;
    this.#options = options;
    this.#producer = newProducer(kafka);
  }

  /** Resolves when the broker has the message; rejects when that is not confirmed in time. */
  publish(topic: string, message: Message, group?: TopicGroup): Promise<void> {
    const { deadlineMs, maxWaiting } = this.#options;
    if (this.#closed) return Promise.reject(new Error('The bus is closed.'));
    if (this.#waiting.size + this.#entering >= maxWaiting)
      return Promise.reject(new Error('Too many messages wait for Kafka.'));
    return new Promise((resolve, reject) => {
      let settled = false;
      const settle = (error?: Error) => {
        if (settled) return;
        settled = true;
        clearTimeout(timer);
        this.#waiting.delete(waiting);
        this.#options.onPublished?.(error === undefined ? 'sent' : 'failed');
        if (error === undefined) resolve();
        else reject(error);
      };
      const late = () => settle(new Error('Kafka did not respond in time.', { cause: this.#lastFailure }));
      const timer = setTimeout(late, deadlineMs);
      const waiting = { topic, group, message, settled: () => settled, settle };
      void this.#enter(waiting);
    });
  }

  /** Has a message wait for the next request, as soon as its topic is there. */
  async #enter(waiting: Waiting): Promise<void> {
    this.#entering += 1;
    for (let failures = 0; waiting.group?.isThere === false && !waiting.settled() && !this.#closed; ) {
      try {
        await waiting.group.ensure();
      } catch (error) {
        this.#lastFailure = error;
        failures += 1;
        await this.#pause(failures);
      }
    }
    this.#entering -= 1;
    if (waiting.settled()) return;
    if (this.#closed) {
      waiting.settle(new Error('The bus is closed.'));
      return;
    }
    this.#waiting.add(waiting);
    this.#sending ??= this.#send().finally(() => this.#next());
  }

  /** Waits for what is being sent, for at most three seconds, and disconnects. */
  async close(): Promise<void> {
    this.#closed = true;
    await within(CLOSE_TIMEOUT_MS, 'sending what is left', this.#drained()).catch(() => {});
    this.#settleAll([...this.#inFlight, ...this.#waiting], new Error('The bus is closed.'));
    await within(CLOSE_TIMEOUT_MS, 'disconnecting', this.#producer.disconnect()).catch(() => {});
  }

  async #drained(): Promise<void> {
    while (this.#sending !== undefined) await this.#sending;
  }

  #next(): void {
    this.#sending = this.#waiting.size === 0 ? undefined : this.#send().finally(() => this.#next());
  }

  /** Sends all waiting messages, in one request to each broker. Never rejects. */
  async #send(): Promise<void> {
    // One round of the event loop, so that messages published together are sent together.
    await new Promise(setImmediate);
    try {
      await this.#connect();
      this.#inFlight = [...this.#waiting];
      this.#waiting.clear();
      if (this.#inFlight.length > 0) {
        await this.#producer.sendBatch({
          acks: this.#options.acks,
          timeout: ACK_TIMEOUT_MS,
          topicMessages: byTopic(this.#inFlight),
        });
      }
      this.#settleAll(this.#inFlight);
      this.#failures = 0;
    } catch (error) {
      this.#lastFailure = error;
      // Tried again, in order, until their deadlines.
      const again = this.#inFlight.filter(({ settled }) => !settled());
      if (this.#closed) this.#settleAll([...again, ...this.#waiting], error as Error);
      else if (isUnknownTopic(error)) await this.#begin(again);
      else {
        this.#waiting = new Set([...again, ...this.#waiting]);
        this.#failures += 1;
        await this.#pause(this.#failures);
      }
    }
    this.#inFlight = [];
  }

  /** Begins anew without the topic that is missing: it is made again, if one of the messages needs it. */
  async #begin(again: readonly Waiting[]): Promise<void> {
    const waiting = [...again, ...this.#waiting];
    this.#waiting.clear();
    const producer = this.#producer;
    this.#producer = newProducer(this.#kafka);
    this.#connected = false;
    await within(CLOSE_TIMEOUT_MS, 'disconnecting', producer.disconnect()).catch(() => {});
    for (const group of new Set(waiting.map(({ group }) => group))) group?.ensureAgain().catch(() => {});
    this.#failures += 1;
    await this.#pause(this.#failures);
    for (const message of waiting) void this.#enter(message);
  }

  #settleAll(messages: readonly Waiting[], error?: Error): void {
    for (const { settle } of messages) settle(error);
  }

  async #pause(failures: number): Promise<void> {
    await sleep(backoffMs(failures, BACKOFF_FIRST_MS, BACKOFF_MAX_MS, this.#options.random));
  }

  async #connect(): Promise<void> {
    if (this.#connected) return;
    await this.#producer.connect();
    this.#connected = true;
  }
}

function newProducer(kafka: Kafka): Producer {
  return kafka.producer({
    createPartitioner: toKnownPartitions,
    allowAutoTopicCreation: false,
    metadataMaxAge: TOPICS_KNOWN_MS,
    retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 4 },
  });
}

/**
 * kafkajs drops messages to partitions that it does not know, without an error. They may be new: it looks once more, and
 * then sends the message to another partition, since any reader is better than none.
 */
const toKnownPartitions: ICustomPartitioner = () => {
  const byKey = Partitioners.DefaultPartitioner();
  const lookedUp = new WeakSet<Message>();
  return (args) => {
    const { topic, message, partitionMetadata } = args;
    const { partition } = message;
    if (partition === undefined || partitionMetadata.some(({ partitionId }) => partitionId === partition))
      return byKey(args);
    if (lookedUp.has(message)) return partition % partitionMetadata.length;
    lookedUp.add(message);
    throw Object.assign(new kafkajs.KafkaJSMetadataNotLoaded(), {
      message: `${topic} has no partition ${partition}`,
    });
  };
};

/** Whether the broker does not know one of our topics: it came back without its data, or the topic was deleted. */
function isUnknownTopic(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { type, cause } = error as Error & { type?: string };
  return type === 'UNKNOWN_TOPIC_OR_PARTITION' || isUnknownTopic(cause);
}

function byTopic(batch: readonly Waiting[]): { topic: string; messages: Message[] }[] {
  const topics = new Map<string, Message[]>();
  for (const { topic, message } of batch) {
    const messages = topics.get(topic);
    if (messages === undefined) topics.set(topic, [message]);
    else messages.push(message);
  }
  return [...topics].map(([topic, messages]) => ({ topic, messages }));
}
