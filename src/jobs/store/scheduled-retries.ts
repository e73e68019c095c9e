import type { Clock } from '../../clock.ts';
import { DueQueue } from '../../store/due-queue.ts';
import type { JobCollections, ScheduledRetry } from './collections.ts';

/** The jobs that wait for the time of their next attempt. */
export class ScheduledRetries extends DueQueue<ScheduledRetry> {
  constructor({ retries }: JobCollections, clock: Clock) {
    super(retries, clock);
  }

  /** The number of an account's jobs that wait for the time of their next attempt. */
  countOf(accountId: string): Promise<number> {
    return this.records.count({ accountId });
  }
}
