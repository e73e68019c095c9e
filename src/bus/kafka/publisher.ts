import { setTimeout as sleep } from 'node:timers/promises';
import type { Kafka, Message, Producer } from 'kafkajs';
import { Partitioners } from 'kafkajs';
import type { Link } from './link.ts';

/** What the broker itself may take to gather acknowledgements. */
const ACK_TIMEOUT_MS = 5000;
const RECONNECT_MS = 250;
const CLOSE_TIMEOUT_MS = 3000;

interface Waiting {
  readonly topic: string;
  readonly message: Message;
  /** On the monotonic clock. */
  readonly deadline: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export interface PublisherOptions {
  /** -1: all in-sync replicas; 1: the leader. */
  readonly acks: -1 | 1;
  /** A message that has not arrived after this is given up; it may still arrive later. */
  readonly deadlineMs: number;
  /** Messages that may wait for the broker; those past it are refused. */
  readonly maxWaiting: number;
  readonly onPublished?: (outcome: 'sent' | 'failed', count: number) => void;
}

/**
 * Sends messages, those of one moment together: one request is on its way at a time, and whatever is published
 * meanwhile goes with the next. So an idle bus adds no wait, and a busy one few requests.
 */
export class Publisher {
  readonly #producer: Producer;
  readonly #link: Link;
  readonly #options: PublisherOptions;
  #waiting: Waiting[] = [];
  #sending: Promise<void> | undefined;
  #connected = false;
  #closed = false;

  constructor(kafka: Kafka, link: Link, options: PublisherOptions) {
    this.#link = link;
    this.#options = options;
    this.#producer = kafka.producer({
      createPartitioner: Partitioners.DefaultPartitioner,
      allowAutoTopicCreation: false,
      retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 4 },
    });
    // Connected ahead of the first message; a failure shows again when there is something to send.
    this.#sending = this.#connect(performance.now() + CLOSE_TIMEOUT_MS)
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
      this.#waiting.push({ topic, message, deadline: performance.now() + deadlineMs, resolve, reject });
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
    for (const { reject } of this.#waiting.splice(0)) reject(new Error('The bus is closed.'));
    await Promise.race([
      this.#producer.disconnect().catch(() => {}),
      sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false }),
    ]);
  }

  #next(): void {
    this.#sending = this.#waiting.length === 0 ? undefined : this.#send().finally(() => this.#next());
  }

  /** Sends all that waits, in one request to each broker; settles every one of them. Never rejects. */
  async #send(): Promise<void> {
    // One turn of the event loop, so that what is published together is sent together.
    await new Promise(setImmediate);
    const batch = this.#waiting;
    this.#waiting = [];
    const deadline = Math.min(...batch.map((entry) => entry.deadline));
    try {
      await before(deadline, async () => {
        await this.#connect(deadline);
        await this.#producer.sendBatch({
          acks: this.#options.acks,
          timeout: ACK_TIMEOUT_MS,
          topicMessages: byTopic(batch),
        });
      });
    } catch (error) {
      this.#giveBack(batch, error as Error);
      return;
    }
    for (const { resolve } of batch) resolve();
    this.#options.onPublished?.('sent', batch.length);
  }

  /** Those whose time is up are rejected; the others are tried again with the next request. */
  #giveBack(batch: readonly Waiting[], error: Error): void {
    const now = performance.now();
    const later = this.#closed ? [] : batch.filter((entry) => entry.deadline > now);
    const over = batch.filter((entry) => !later.includes(entry));
    this.#waiting.unshift(...later);
    for (const { reject } of over) reject(error);
    if (over.length > 0) this.#options.onPublished?.('failed', over.length);
  }

  async #connect(deadline: number): Promise<void> {
    if (this.#connected) return;
    await before(deadline, () => this.#link.prepared());
    while (!this.#closed) {
      try {
        await this.#producer.connect();
        this.#connected = true;
        return;
      } catch (error) {
        if (performance.now() > deadline) throw error;
        await sleep(RECONNECT_MS);
      }
    }
  }
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

/** Rejects at the deadline; the work itself cannot be called off. */
async function before(deadline: number, work: () => Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error('Kafka did not answer in time.')),
      deadline - performance.now(),
    );
  });
  try {
    await Promise.race([work(), limit]);
  } finally {
    clearTimeout(timer);
  }
}
