import { type Connection, type Model, Schema } from 'mongoose';
import type { Clock } from '../clock.ts';

/**
 * An account's quota of one calendar month (UTC).
 *
 * `used` counts what was admitted and not given back. A job reserves one PDF when it is admitted and gives it back if
 * it ends without a PDF, so `used` never passes the quota, and at rest it is the number of PDFs produced.
 */
export interface QuotaRecord {
  /** `<account>:<yyyy-mm>` */
  readonly _id: string;
  readonly used: number;
  /** Reservations whose job may not be written yet: job id → epoch milliseconds. */
  readonly pending: Readonly<Record<string, number>>;
  /** The jobs that gave back last, so that giving back twice changes nothing. */
  readonly returned: readonly string[];
}

const DUPLICATE_KEY = 11000;
/** Repairs come within seconds; no account ends this many jobs without a PDF meanwhile. */
const RETURNED_KEPT = 1000;

export type QuotaPeriod = string & { readonly __brand: 'QuotaPeriod' };

/** The month that a moment falls into, as `yyyy-mm`. */
export function quotaPeriod(now: Date): QuotaPeriod {
  return now.toISOString().slice(0, 7) as QuotaPeriod;
}

/** The first moment of the next month: when the quota starts anew. */
export function quotaResetDate(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
}

/** Reserves, confirms and gives back monthly quota; each is one atomic update of the account's month. */
export class Quota {
  readonly #model: Model<QuotaRecord>;
  readonly #clock: Clock;

  constructor(connection: Connection, clock: Clock) {
    const schema = new Schema(
      { _id: String, used: Number, pending: Schema.Types.Mixed, returned: [String] },
      { versionKey: false, minimize: false, autoIndex: false, autoCreate: false, collection: 'quotas' },
    );
    this.#model = connection.model<QuotaRecord>('Quota', schema as unknown as Schema<QuotaRecord>);
    this.#clock = clock;
  }

  /** Reserves one PDF for a job. @returns false when the month's quota is used up. */
  async reserve(accountId: string, period: QuotaPeriod, jobId: string, quota: number): Promise<boolean> {
    if (quota <= 0) return false;
    try {
      await this.#model.collection.updateOne(
        { _id: recordId(accountId, period) as never, used: { $lt: quota } },
        { $inc: { used: 1 }, $set: { [`pending.${jobId}`]: this.#clock.now().getTime() } },
        // Where the filter misses an existing record the insert meets its id: that is the "no".
        { upsert: true },
      );
      return true;
    } catch (error) {
      if ((error as { code?: number }).code === DUPLICATE_KEY) return false;
      throw error;
    }
  }

  /** The jobs are written: their reservations need no watching any more. */
  async confirm(accountId: string, period: QuotaPeriod, jobIds: readonly string[]): Promise<void> {
    if (jobIds.length === 0) return;
    await this.#model.collection.updateOne(
      { _id: recordId(accountId, period) as never },
      { $unset: Object.fromEntries(jobIds.map((jobId) => [`pending.${jobId}`, ''])) },
    );
  }

  /** Gives a job's reservation back; doing it again changes nothing. */
  async giveBack(accountId: string, period: QuotaPeriod, jobId: string): Promise<void> {
    await this.#model.collection.updateOne(
      { _id: recordId(accountId, period) as never, returned: { $ne: jobId } },
      {
        $inc: { used: -1 },
        $push: { returned: { $each: [jobId], $slice: -RETURNED_KEPT } },
        $unset: { [`pending.${jobId}`]: '' },
      } as never,
    );
  }

  /** PDFs used in a month. */
  async used(accountId: string, period: QuotaPeriod): Promise<number> {
    const record = await this.#model.collection.findOne({ _id: recordId(accountId, period) as never });
    return (record as QuotaRecord | null)?.used ?? 0;
  }

  /** Reservations of the month that have been pending since before `before`. */
  async pendingSince(period: QuotaPeriod, before: Date): Promise<{ accountId: string; jobId: string }[]> {
    const records = (await this.#model.collection
      .find({ _id: { $regex: `:${period}$` } as never })
      .toArray()) as unknown as QuotaRecord[];
    return records.flatMap((record) =>
      Object.entries(record.pending ?? {})
        .filter(([, since]) => since <= before.getTime())
        .map(([jobId]) => ({ accountId: record._id.slice(0, -(period.length + 1)), jobId })),
    );
  }
}

function recordId(accountId: string, period: QuotaPeriod): string {
  return `${accountId}:${period}`;
}
