import type { Clock } from '../../../infra/clock.ts';
import type { Collection } from '../../../infra/store/collection.ts';
import {
  type UncountedUsage,
  type UsageCounters,
  type UsageEvent,
  usageOf,
} from '../../../tenants/usage/usage-counters.ts';
import type { Job } from '../job.ts';
import type { LedgerRecord } from './ledger-record.ts';

/** How long counts stay in a ledger, in milliseconds. */
const MOVED_AFTER_MS = 2 * 3_600_000;
/** The same after a batch of more than so many hours and keys, because each change of the ledger rewrites them. */
const MANY_MOVED_AFTER_MS = 60_000;
const MANY = 8;
/** Ledgers of one pass. */
const AT_ONCE = 500;

const UNCOUNTED = { usage: 1, usageBatch: 1, usageBatches: 1 } as const;

/** How the ends of an account's jobs change its ledger so that they are counted. */
export function countedEnds(jobs: readonly Job[], now: Date) {
  return {
    $inc: usageOf('usage', jobs.map(outcomeOf)),
    $min: { usageDueAt: new Date(now.getTime() + MOVED_AFTER_MS) },
  };
}

function outcomeOf(job: Job): UsageEvent {
  return {
    accountId: job.accountId,
    apiKeyId: job.apiKeyId,
    at: job.completedAt ?? job.updatedAt,
    errorCode: job.error?.code,
    ...(job.output !== null && {
      rendered: {
        pages: job.output.pages,
        bytes: job.output.size,
        ms: job.processingTimeMs,
        phases: job.output.report?.phases,
      },
    }),
  };
}

/**
 * The outcomes of jobs, counted in the ledgers by the updates in which jobs leave their slots and positions. So each
 * counts once, at no cost of its own. From there they are moved into the buckets of usage:
 *
 *    1 what was counted so far becomes a batch with a number; later outcomes are counted anew beside it
 *    2 the batch is added to the buckets, each of which notes its number
 *    3 the batch is deleted
 *
 * After a crash between two steps, another process goes on; two at once do the same.
 */
export class LedgerUsage {
  readonly #records: Collection<LedgerRecord>;
  readonly #clock: Clock;

  constructor(records: Collection<LedgerRecord>, clock: Clock) {
    this.#records = records;
    this.#clock = clock;
  }

  /** What is not in the buckets. */
  async read(accountIds: readonly string[]): Promise<Map<string, UncountedUsage>> {
    const records = await this.#records.find({ _id: { $in: [...accountIds] } }, { projection: UNCOUNTED });
    return new Map(
      records.map(({ _id, usage, usageBatch: batch, usageBatches: batches }) => [
        _id,
        { ...(usage && { usage }), ...(batch && { batch }), ...(batches !== undefined && { batches }) },
      ]),
    );
  }

  /** Moves what is due. @returns of how many accounts. */
  async move(counters: Pick<UsageCounters, 'add'>): Promise<number> {
    const now = this.#clock.now();
    const due = await this.#records.find(
      { usageDueAt: { $gt: new Date(0), $lte: now } },
      { sort: { usageDueAt: 1 }, limit: AT_ONCE, projection: { _id: 1 } },
    );
    for (const { _id } of due) await this.#moveOne(_id, counters, now);
    return due.length;
  }

  async #moveOne(_id: string, counters: Pick<UsageCounters, 'add'>, now: Date): Promise<void> {
    const isNew = { usage: { $exists: true }, usageBatch: { $exists: false } };
    const taken = await this.#records.findOneAndUpdate(
      { _id, ...isNew },
      { $rename: { usage: 'usageBatch' }, $inc: { usageBatches: 1 } },
      UNCOUNTED,
    );
    const { usageBatch: batch, usageBatches: number } =
      taken ?? (await this.#records.findById(_id, UNCOUNTED)) ?? {};
    if (batch === undefined || number === undefined) return;
    await counters.add(_id, number, batch);
    const isOwn = { _id, usageBatches: number };
    const done = { usageBatch: '' } as const;
    // Nothing was counted meanwhile.
    const last = { $unset: { ...done, usageDueAt: '' } } as const;
    if (await this.#records.updateOne({ ...isOwn, usage: { $exists: false } }, last)) return;
    const isMany = Object.keys(batch).length > MANY;
    const usageDueAt = new Date(now.getTime() + (isMany ? MANY_MOVED_AFTER_MS : MOVED_AFTER_MS));
    await this.#records.updateOne(
      { ...isOwn, usage: { $exists: true } },
      { $unset: done, $set: { usageDueAt } },
    );
  }
}
