import { WriteBehind } from '../async/write-behind.ts';
import type { Job } from '../jobs/job.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Quota, QuotaPeriod } from './quota.ts';
import type { UsageCounters } from './usage-counters.ts';

interface Reservation {
  readonly accountId: string;
  readonly period: QuotaPeriod;
  readonly jobId: string;
}

/** Brings what jobs have used to account. */
export class Settlement {
  readonly #quota: Quota;
  readonly #counters: UsageCounters;
  readonly #confirmations: WriteBehind<Reservation>;

  constructor(quota: Quota, counters: UsageCounters, logger: Logger) {
    this.#quota = quota;
    this.#counters = counters;
    this.#confirmations = new WriteBehind((batch) => this.#confirm(batch), logger);
  }

  /** The job with this reservation is written; noted a little later, with others. */
  accepted(reservation: Reservation): void {
    this.#confirmations.add(reservation);
  }

  /** A job has ended just now: counts its outcome, and gives its reservation back if it has no PDF. */
  async ended(job: Job): Promise<void> {
    this.#counters.record({
      accountId: job.accountId,
      apiKeyId: job.apiKeyId,
      at: job.completedAt ?? job.updatedAt,
      errorCode: job.error?.code,
    });
    await this.returnUnused(job);
  }

  /** Gives back the reservation of a job that ended without a PDF. Doing it again changes nothing. */
  async returnUnused(job: Job): Promise<void> {
    if (job.state === 'completed' || job.quotaPeriod === null) return;
    await this.#quota.giveBack(job.accountId, job.quotaPeriod as QuotaPeriod, job._id);
  }

  /** Resolves when what was noted is written. */
  async flush(): Promise<void> {
    await this.#confirmations.flush();
    await this.#counters.flush();
  }

  async #confirm(batch: readonly Reservation[]): Promise<void> {
    const groups = Map.groupBy(batch, ({ accountId, period }) => `${accountId}:${period}`);
    for (const reservations of groups.values()) {
      const { accountId, period } = reservations[0]!;
      await this.#quota.confirm(
        accountId,
        period,
        reservations.map(({ jobId }) => jobId),
      );
    }
  }
}
