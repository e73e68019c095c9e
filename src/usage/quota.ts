import { type Connection, type Model, Schema } from 'mongoose';
import type { Clock } from '../clock.ts';
import { collectionSchema } from '../store/collection-schema.ts';
import { isDuplicateKey } from '../store/duplicate-key.ts';

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
  /** Set while something may be pending; absent otherwise, so that its sparse index holds only these. */
  readonly watched?: true;
  /** The jobs that gave back last, so that giving back twice changes nothing. */
  readonly returned: readonly string[];
}

/** What became of a reservation: made now, made before for the same job, or refused for want of quota. */
export type Reserved = 'made' | 'held' | 'used up';

export interface PendingReservation {
  readonly accountId: string;
  readonly period: QuotaPeriod;
  readonly jobId: string;
  /** Epoch milliseconds. */
  readonly since: number;
}

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
    const schema = collectionSchema<QuotaRecord>('quotas', {
      _id: String,
      used: Number,
      pending: Schema.Types.Mixed,
      watched: Boolean,
      returned: [String],
    });
    schema.index({ watched: 1 }, { sparse: true });
    this.#model = connection.model<QuotaRecord>('Quota', schema);
    this.#clock = clock;
  }

  /**
   * Reserves one PDF for a job. Until it is confirmed, doing it again for the same job reserves nothing more.
   *
   * @param quota PDFs a month.
   */
  async reserve(accountId: string, period: QuotaPeriod, jobId: string, quota: number): Promise<Reserved> {
    if (quota <= 0) return 'used up';
    const _id = recordId(accountId, period) as never;
    const pending = `pending.${jobId}`;
    const now = this.#clock.now().getTime();
    const filter = { _id, used: { $lt: quota }, [pending]: { $exists: false } };
    const update = { $inc: { used: 1 }, $set: { [pending]: now, watched: true } };
    try {
      await this.#model.collection.updateOne(filter, update, { upsert: true });
      return 'made';
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    // The record is there and did not fit, or somebody began the month at the same moment: asked again it is one or
    // the other.
    const again = await this.#model.collection.updateOne(filter, update);
    if (again.matchedCount === 1) return 'made';
    // Held already, by an earlier try that died: the time is set anew, so that no sweep takes it for abandoned.
    const held = await this.#model.collection.updateOne(
      { _id, [pending]: { $exists: true } },
      { $set: { [pending]: now, watched: true } },
    );
    return held.matchedCount === 1 ? 'held' : 'used up';
  }

  /** The jobs are written: their reservations need no watching any more. */
  async confirm(accountId: string, period: QuotaPeriod, jobIds: readonly string[]): Promise<void> {
    if (jobIds.length === 0) return;
    await this.#model.collection.updateOne(
      { _id: recordId(accountId, period) as never },
      { $unset: Object.fromEntries(jobIds.map((jobId) => [`pending.${jobId}`, ''])) },
    );
  }

  /**
   * Takes an unconfirmed reservation back: its job was never written. Doing it again changes nothing.
   *
   * @param since only if it is the one that was made at this time, in epoch milliseconds.
   */
  async undo(accountId: string, period: QuotaPeriod, jobId: string, since?: number): Promise<void> {
    const pending = `pending.${jobId}`;
    await this.#model.collection.updateOne(
      { _id: recordId(accountId, period) as never, [pending]: since ?? { $exists: true } },
      { $inc: { used: -1 }, $unset: { [pending]: '' } },
    );
  }

  /** Gives back the reservation of a job that was written and ended without a PDF. Doing it again changes nothing. */
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
    const record = await this.#model.collection.findOne(
      { _id: recordId(accountId, period) as never },
      { projection: { used: 1 } },
    );
    return (record as QuotaRecord | null)?.used ?? 0;
  }

  /** Reservations that are not confirmed, of every account. */
  async pending(): Promise<PendingReservation[]> {
    const records = (await this.#model.collection
      .find({ watched: true }, { projection: { pending: 1 } })
      .toArray()) as unknown as Pick<QuotaRecord, '_id' | 'pending'>[];
    for (const { _id, pending } of records) {
      if (Object.keys(pending ?? {}).length > 0) continue;
      // Nothing came meanwhile, or the record is not as it was seen.
      await this.#model.collection.updateOne({ _id: _id as never, pending: {} }, { $unset: { watched: '' } });
    }
    return records.flatMap(({ _id, pending }) => {
      const [accountId, period] = partsOf(_id);
      return Object.entries(pending ?? {}).map(([jobId, since]) => ({ accountId, period, jobId, since }));
    });
  }
}

function recordId(accountId: string, period: QuotaPeriod): string {
  return `${accountId}:${period}`;
}

function partsOf(id: string): [accountId: string, period: QuotaPeriod] {
  const colon = id.lastIndexOf(':');
  return [id.slice(0, colon), id.slice(colon + 1) as QuotaPeriod];
}
