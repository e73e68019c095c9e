import type { Consumer } from 'kafkajs';
import { within } from '../../async/timeout.ts';

const COMMIT_MS = 500;
const LAST_COMMIT_TIMEOUT_MS = 2000;

/**
 * Notes which messages have been taken, and commits them twice a second: a commit for each message would cost more than
 * the message. Uncommitted messages of a process that dies are delivered again, and their jobs found to be claimed.
 */
export class Offsets {
  readonly #topic: string;
  readonly #consumer: () => Consumer | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #taken = new Map<number, string>();
  #committing = false;

  constructor(topic: string, consumer: () => Consumer | undefined) {
    this.#topic = topic;
    this.#consumer = consumer;
    this.#timer = setInterval(() => void this.commit(), COMMIT_MS);
  }

  /** Everything up to and including this offset has been taken. */
  note(partition: number, offset: string): void {
    this.#taken.set(partition, String(BigInt(offset) + 1n));
  }

  /** Partitions have been reassigned: their new owners commit their offsets from now on. */
  forget(): void {
    this.#taken.clear();
  }

  /** Commits the noted offsets, for at most two seconds. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await within(LAST_COMMIT_TIMEOUT_MS, 'the last commit', this.commit()).catch(() => {});
  }

  /** Never rejects: offsets that could not be committed are committed later, or their messages delivered again. */
  async commit(): Promise<void> {
    const consumer = this.#consumer();
    if (consumer === undefined || this.#committing || this.#taken.size === 0) return;
    const batch = [...this.#taken];
    this.#committing = true;
    try {
      await consumer.commitOffsets(
        batch.map(([partition, offset]) => ({ topic: this.#topic, partition, offset })),
      );
      for (const [partition, offset] of batch) {
        if (this.#taken.get(partition) === offset) this.#taken.delete(partition);
      }
    } catch {
      // Tried again in the next round, unless the partitions have been reassigned.
    } finally {
      this.#committing = false;
    }
  }
}
