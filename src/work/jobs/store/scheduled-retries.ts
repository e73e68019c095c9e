import type { Clock } from '../../../infra/clock.ts';
import { DueQueue } from '../../../infra/store/due-queue.ts';
import type { JobCollections, ScheduledRetry } from './collections.ts';

/** More than the longest wait between two attempts, in milliseconds: twice the longest that can be configured first. */
const LONGEST_MS = 3_600_000;

/** The jobs that wait for the time of their next attempt. */
export class ScheduledRetries extends DueQueue<ScheduledRetry> {
  constructor({ retries }: JobCollections, clock: Clock) {
    super(retries, clock, { longestMs: LONGEST_MS });
  }

  /** The number of an account's jobs that wait for the time of their next attempt. */
  countOf(accountId: string): Promise<number> {
    return this.records.count({ accountId });
  }

  /** When the first of an account's jobs that wait for their next attempt is due; undefined without any. */
  async nextOf(accountId: string): Promise<Date | undefined> {
    return (await this.records.findOne({ accountId }, { sort: { dueAt: 1 } }))?.dueAt;
  }
}
