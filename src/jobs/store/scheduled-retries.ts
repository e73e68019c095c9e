import type { JobCollections, ScheduledRetry } from './collections.ts';

/** Which jobs wait for the time of their next attempt. */
export class ScheduledRetries {
  readonly #retries: JobCollections['retries'];

  constructor({ retries }: JobCollections) {
    this.#retries = retries;
  }

  async schedule(jobId: string, accountId: string, dueAt: Date): Promise<void> {
    await this.#retries.upsert(jobId, { $set: { accountId, dueAt } });
  }

  /** Those whose time has come, the most overdue first. */
  due(now: Date, limit: number): Promise<ScheduledRetry[]> {
    return this.#retries.find({ dueAt: { $lte: now } }, { sort: { dueAt: 1 }, limit });
  }

  /**
   * Takes one on: nobody else does until `until`, when it is due again if it has not been removed.
   *
   * @returns false when somebody else was first.
   */
  takeOn({ _id, dueAt }: ScheduledRetry, until: Date): Promise<boolean> {
    return this.#retries.updateOne({ _id, dueAt }, { $set: { dueAt: until } });
  }

  async remove(jobId: string): Promise<void> {
    await this.#retries.deleteOne({ _id: jobId });
  }

  /** How many jobs of an account wait for the time of their next attempt. */
  countOf(accountId: string): Promise<number> {
    return this.#retries.count({ accountId });
  }
}
