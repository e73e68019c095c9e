import type { Connection } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import { Collection, type CollectionSpec, type Update } from '../../infra/store/collection.ts';
import { DUE_INDEX, DueQueue } from '../../infra/store/due-queue.ts';
import type { AlertRecord } from './alert-record.ts';

const LEASE_MS = 30_000;
/** Longer than any record is put off, in milliseconds; see judge-webhooks.ts. */
const LONGEST_MS = 72 * 3_600_000;

const ALERTS: CollectionSpec = { name: 'alerts', account: '_id', indexes: [DUE_INDEX] };

/** Owns what is watched of accounts. Only what is noticed of an account makes its record due: no sweep reads others. */
export class AlertStore extends DueQueue<AlertRecord> {
  /** To be created before the connection's indexes. */
  constructor(connection: Connection, clock: Clock) {
    super(new Collection<AlertRecord>(connection, ALERTS), clock, {
      leaseMs: LEASE_MS,
      longestMs: LONGEST_MS,
      reads: { dueAt: 1, fence: 1 },
    });
  }

  /** The record is due then, or sooner; durable when it resolves. One statement for all. */
  async notice(
    notices: readonly {
      readonly accountId: string;
      readonly dueAt: Date;
      readonly update?: Update<AlertRecord>;
    }[],
  ): Promise<void> {
    await this.records.upsertAll(
      notices.map(({ accountId, dueAt, update = {} }) => ({
        id: accountId,
        update: {
          ...update,
          $max: { ...update.$max, lookAt: dueAt } as NonNullable<Update<AlertRecord>['$max']>,
          $min: { ...update.$min, dueAt } as NonNullable<Update<AlertRecord>['$min']>,
          $inc: { ...update.$inc, revision: 1 },
        },
      })),
    );
  }

  /** A callback has arrived at an address at which others had failed. */
  async noteArrival(accountId: string, key: string): Promise<void> {
    const address = `webhooks.${key}`;
    const untold = { _id: accountId, [`${address}.toldAt`]: { $exists: false } };
    if (await this.records.updateOne(untold, { $unset: { [address]: '' }, $inc: { revision: 1 } })) return;
    const now = this.clock.now();
    await this.records.updateOne(
      { _id: accountId, [`${address}.arrivedAt`]: { $exists: false } },
      { $set: { [`${address}.arrivedAt`]: now }, $min: { dueAt: now }, $inc: { revision: 1 } },
    );
  }

  /** Changes a claimed record. @returns false, with nothing written, when the claim has ended or something was noticed. */
  note({ _id, fence, revision }: AlertRecord, update: Update<AlertRecord>): Promise<boolean> {
    return this.records.updateOne({ _id, fence, revision: revision ?? null } as object, update);
  }

  /** Ends a claim. @returns false, with nothing written, when something was noticed since; the lease then ends. */
  judged(claimed: AlertRecord, dueAt: Date | undefined, update: Update<AlertRecord>): Promise<boolean> {
    return this.endClaim(claimed, dueAt, update, { revision: claimed.revision ?? null } as object);
  }
}
