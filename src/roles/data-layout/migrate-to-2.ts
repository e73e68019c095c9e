import type { Connection, mongo } from 'mongoose';
import type { JobClass } from '../../infra/bus/bus.ts';
import type { Period } from '../../tenants/plans/quota-period.ts';
import { hasEnded, type Job, type JobState } from '../../work/jobs/job.ts';
import type { LedgerRecord, SlotHolder } from '../../work/jobs/ledger/ledger-record.ts';
import { positionOf, type QueueName, queueOf } from '../../work/jobs/priority-queues.ts';
import type { Migration } from './migration.ts';

/*
 * Layout 1 had plan slots and monthly quotas in separate collections, and searched all jobs for the next waiting one.
 * Layout 2 has one ledger for each account, and numbered positions.
 */

/** A live job of layout 1: the fields that the migration needs. */
interface OldJob {
  readonly _id: string;
  readonly accountId: string;
  readonly state: JobState;
  readonly class: JobClass;
  readonly priority: 0 | 1;
  readonly quotaPeriod: Period | null;
  readonly createdAt: Date;
  readonly notBefore: Date;
  readonly attempts: number;
}

interface OldQuota {
  /** `<account>:<period>` */
  readonly _id: string;
  readonly used: number;
  readonly pending?: Readonly<Record<string, number>>;
  readonly returned?: readonly string[];
}

/** A job of either layout, as it is written. */
type StoredJob = Job & Partial<Pick<OldJob, 'priority'>>;
type JobChange = mongo.AnyBulkWriteOperation<StoredJob>;

/** Everything that is written follows from `jobs` and `quotas` as they were, so a repetition has the same result. */
export const migrateToLayout2: Migration = async (connection, report) => {
  const jobs = (await connection.collection<OldJob>('jobs').find({}).toArray()) as OldJob[];
  const quotas = (await connection.collection<OldQuota>('quotas').find({}).toArray()) as OldQuota[];
  const ended = await endedAmong(connection, quotas);
  const known = new Set([...jobs.map(({ _id }) => _id), ...ended]);
  const byAccount = Map.groupBy(jobs, ({ accountId }) => accountId);
  const quotasOf = Map.groupBy(quotas, ({ _id }) => accountOf(_id));
  const accountIds = new Set([...byAccount.keys(), ...quotasOf.keys()]);
  let done = 0;
  for (const accountId of accountIds) {
    await migrateAccount(
      connection,
      accountId,
      byAccount.get(accountId) ?? [],
      quotasOf.get(accountId) ?? [],
      known,
    );
    done += 1;
    report({ accounts: done, ofAccounts: accountIds.size });
  }
  // Unused from now on; an older version that is started by mistake finds nothing to continue with.
  for (const name of ['slots', 'quotas'])
    await connection
      .collection(name)
      .drop()
      .catch(() => undefined);
};

async function migrateAccount(
  connection: Connection,
  accountId: string,
  jobs: readonly OldJob[],
  quotas: readonly OldQuota[],
  known: ReadonlySet<string>,
): Promise<void> {
  const now = new Date();
  const returned = new Set(quotas.flatMap((quota) => quota.returned ?? []));
  const holders: Record<string, SlotHolder> = {};
  const tails: Partial<Record<QueueName, number>> = {};
  const changes: JobChange[] = [];
  let waiting = 0;
  for (const job of [...jobs].sort(byArrival)) {
    if (job.state !== 'queued') {
      // An ended job is finalised by its slot, as if it had ended just now.
      const quotaPeriod = hasEnded(job.state) && returned.has(job._id) ? null : job.quotaPeriod;
      holders[job._id] = { since: now.getTime(), ...(quotaPeriod && { quota: quotaPeriod }) };
      const endedFrom = hasEnded(job.state) ? { endedFrom: 'processing' as const } : {};
      changes.push(change(job._id, { pool: 'default', quotaPeriod, ...endedFrom }));
      continue;
    }
    waiting += 1;
    if (job.notBefore > now) {
      await connection
        .collection<{ _id: string }>('job_retries')
        .updateOne({ _id: job._id }, { $set: { accountId, dueAt: job.notBefore } }, { upsert: true });
      changes.push(change(job._id, { pool: 'default' }));
      continue;
    }
    const queue = queueOf(job.class, job.attempts > 0);
    const number = tails[queue] ?? 0;
    tails[queue] = number + 1;
    changes.push(change(job._id, { pool: 'default', position: positionOf(accountId, queue, number) }));
  }
  const ledger: Omit<LedgerRecord, '_id'> = {
    revision: 1,
    active: true,
    inFlight: Object.keys(holders).length,
    holders,
    waiting,
    queues: Object.fromEntries(Object.entries(tails).map(([queue, tail]) => [queue, { tail }])),
    quota: Object.fromEntries(quotas.map((quota) => [periodOf(quota._id), usedOf(quota, known)])),
  };
  await connection
    .collection<LedgerRecord>('ledgers')
    .updateOne({ _id: accountId }, { $set: ledger }, { upsert: true });
  if (changes.length > 0) await connection.collection<StoredJob>('jobs').bulkWrite(changes);
}

/** The quota used, without reservations for jobs that were never written. */
function usedOf({ used, pending = {} }: OldQuota, known: ReadonlySet<string>): number {
  return used - Object.keys(pending).filter((jobId) => !known.has(jobId)).length;
}

/** The ended jobs among those with an unconfirmed reservation. */
async function endedAmong(connection: Connection, quotas: readonly OldQuota[]): Promise<string[]> {
  const ids = quotas.flatMap(({ pending = {} }) => Object.keys(pending));
  const found = await connection
    .collection<{ _id: string }>('job_history')
    .find({ _id: { $in: ids } }, { projection: { _id: 1 } })
    .toArray();
  return found.map(({ _id }) => _id);
}

function change(_id: string, fields: Partial<Job>): JobChange {
  return { updateOne: { filter: { _id }, update: { $set: fields, $unset: { priority: '' } } } };
}

function byArrival(a: OldJob, b: OldJob): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || (a._id < b._id ? -1 : 1);
}

function accountOf(quotaId: string): string {
  return quotaId.slice(0, quotaId.lastIndexOf(':'));
}

function periodOf(quotaId: string): string {
  return quotaId.slice(quotaId.lastIndexOf(':') + 1);
}
