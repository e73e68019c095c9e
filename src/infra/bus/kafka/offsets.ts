import type { Consumer } from 'kafkajs';
import { within } from '../../async/timeout.ts';

const COMMIT_MS = 500;
const LAST_COMMIT_TIMEOUT_MS = 2000;

/**
 * Notes which messages have been taken, and commits them twice a second: a commit for each message would cost more than
 * the message. Uncommitted messages of a process that dies are delivered again, and their jobs found to be claimed.
 */
export class Offsets {
  readonly #consumer: () => Consumer | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** By topic. */
  readonly #taken = new Map<string, { readonly partition: number; readonly offset: string }>();
  #committing = false;
  #closed = false;

  constructor(consumer: () => Consumer | undefined) {
    this.#consumer = consumer;
  }

  /** Everything before this offset has been taken. */
  note(topic: string, partition: number, offset: string): void {
    this.#taken.set(topic, { partition, offset });
    this.#commitSoon();
  }

  /** The consumer has joined a group: perhaps that of another lane. */
  forget(): void {
    this.#taken.clear();
  }

  /** Commits the noted offsets, for at most two seconds. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await within(LAST_COMMIT_TIMEOUT_MS, 'the last commit', this.commit()).catch(() => {});
  }

  /** Never rejects: offsets that could not be committed are committed later, or their messages delivered again. */
  async commit(): Promise<void> {
    const consumer = this.#consumer();
    if (consumer === undefined || this.#committing || this.#taken.size === 0) return;
    const batch = [...this.#taken];
    this.#committing = true;
    try {
      await consumer.commitOffsets(batch.map(([topic, taken]) => ({ topic, ...taken })));
      for (const [topic, taken] of batch) if (this.#taken.get(topic) === taken) this.#taken.delete(topic);
    } catch {
      // Tried again in the next round, unless the group is joined again meanwhile.
    } finally {
      this.#committing = false;
    }
  }

  #commitSoon(): void {
    if (this.#closed) return;
    this.#timer ??= setTimeout(async () => {
      await this.commit();
      this.#timer = undefined;
      if (this.#taken.size > 0) this.#commitSoon();
    }, COMMIT_MS);
  }
}
