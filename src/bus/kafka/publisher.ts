import { setTimeout as sleep } from 'node:timers/promises';
import type { Kafka, Message, Producer } from 'kafkajs';
import { Partitioners } from 'kafkajs';
import type { TopicGroup } from './topic-group.ts';

/** What the broker itself may take to gather acknowledgements. */
const ACK_TIMEOUT_MS = 5000;
const PAUSE_MS = 250;
const CLOSE_TIMEOUT_MS = 3000;

interface Waiting {
  readonly topic: string;
  readonly message: Message;
  /** Its publisher has been told whether it was sent. */
  readonly answered: () => boolean;
  /** Tells its publisher that it was sent, or with an error that it was not. Only the first answer counts. */
  readonly answer: (error?: Error) => void;
}

export interface PublisherOptions {
  /** -1: all in-sync replicas; 1: the leader. */
  readonly acks: -1 | 1;
  /** A message that has not arrived after this is given up; it may still arrive later. */
  readonly deadlineMs: number;
  /** Messages that may wait for the broker; those past it are refused. */
  readonly maxWaiting: number;
  readonly onPublished?: (outcome: 'sent' | 'failed') => void;
}

/**
 * Sends messages to the topics of one group, those of one moment together: one request is on its way at a time, and whatever is published
 * meanwhile goes with the next. So an idle bus adds no wait, and a busy one few requests.
 */
export class Publisher {
  readonly #producer: Producer;
  readonly #topics: TopicGroup;
  readonly #options: PublisherOptions;
  #waiting: Waiting[] = [];
  #inFlight: readonly Waiting[] = [];
  #sending: Promise<void> | undefined;
  #connected = false;
  #topicsLost = false;
  #closed = false;

  constructor(kafka: Kafka, topics: TopicGroup, options: PublisherOptions) {
    this.#topics = topics;
    this.#options = options;
    this.#producer = kafka.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
      allowAutoTopicCreation: false,
      retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 4 },
    });
    // Connected ahead of the first message; a failure shows again when there is something to send.
    this.#sending = this.#connect()
      .catch(() => {})
      .finally(() => this.#next());
  }

  /** Resolves when the broker has the message; rejects when it has not been told so in time. */
  publish(topic: string, message: Message): Promise<void> {
    const { deadlineMs, maxWaiting } = this.#options;
    if (this.#closed) return Promise.reject(new Error('The bus is closed.'));
    if (this.#waiting.length >= maxWaiting)
      return Promise.reject(new Error('Too many messages wait for Kafka.'));
    return new Promise((resolve, reject) => {
      let answered = false;
      const answer = (error?: Error) => {
        if (answered) return;
        answered = true;
        clearTimeout(timer);
        this.#options.onPublished?.(error === undefined ? 'sent' : 'failed');
        if (error === undefined) resolve();
        else reject(error);
      };
      const timer = setTimeout(() => answer(new Error('Kafka did not answer in time.')), deadlineMs);
      this.#waiting.push({ topic, message, answered: () => answered, answer });
      this.#sending ??= this.#send().finally(() => this.#next());
    });
  }

  /** Waits for what is being sent, for at most three seconds, and disconnects. */
  async close(): Promise<void> {
    this.#closed = true;
    const limit = performance.now() + CLOSE_TIMEOUT_MS;
    while (this.#sending !== undefined && performance.now() < limit) {
      await Promise.race([this.#sending, sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
    }
    for (const { answer } of [...this.#inFlight, ...this.#waiting.splice(0)]) {
      answer(new Error('The bus is closed.'));
    }
    await Promise.race([
      this.#producer.disconnect().catch(() => {}),
      sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false }),
    ]);
  }

  #next(): void {
    this.#sending = this.#waiting.length === 0 ? undefined : this.#send().finally(() => this.#next());
  }

  /** Sends all that waits, in one request to each broker. Never rejects. */
  async #send(): Promise<void> {
    // One turn of the event loop, so that what is published together is sent together.
    await new Promise(setImmediate);
    const batch = this.#waiting.filter(({ answered }) => !answered());
    this.#waiting = [];
    this.#inFlight = batch;
    try {
      await this.#connect();
      await this.#producer.sendBatch({
        acks: this.#options.acks,
        timeout: ACK_TIMEOUT_MS,
        topicMessages: byTopic(batch),
      });
      for (const { answer } of batch) answer();
    } catch (error) {
      this.#topicsLost = saysUnknownTopic(error);
      // Tried again, in order, for as long as its publisher waits for it.
      this.#waiting.unshift(...batch.filter(({ answered }) => !answered()));
      if (this.#closed) for (const { answer } of this.#waiting.splice(0)) answer(error as Error);
      else await sleep(PAUSE_MS);
    }
    this.#inFlight = [];
  }

  async #connect(): Promise<void> {
    if (this.#topicsLost) await this.#topics.ensureAgain();
    this.#topicsLost = false;
    if (this.#connected) return;
    await this.#topics.ensure();
    await this.#producer.connect();
    this.#connected = true;
  }
}

/** Whether the broker does not know a topic of ours: it came back without its data, or somebody deleted the topic. */
function saysUnknownTopic(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { type, cause } = error as Error & { type?: string };
  return type === 'UNKNOWN_TOPIC_OR_PARTITION' || saysUnknownTopic(cause);
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
