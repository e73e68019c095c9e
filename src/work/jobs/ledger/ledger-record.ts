import type { Connection } from 'mongoose';
import { Collection, type CollectionSpec } from '../../../infra/store/collection.ts';
import { DUE_INDEX } from '../../../infra/store/due-queue.ts';
import type { UnrecordedChange } from '../../../tenants/audit/audit-log.ts';
import type { Period } from '../../../tenants/plans/quota-period.ts';
import type { UsageByHour } from '../../../tenants/usage/usage-counters.ts';
import type { Job } from '../job.ts';
import { PRIORITY_QUEUES, type QueueName, type QueueState } from '../priority-queues.ts';
import type { BlockBalance } from './block-balance.ts';
import type { Overage } from './overage.ts';

const LEDGERS: CollectionSpec = {
  name: 'ledgers',
  account: '_id',
  indexes: [
    DUE_INDEX,
    { fields: { changedAt: 1, _id: 1 }, unique: 'embedded' },
    { fields: { active: 1 }, sparse: true },
    { fields: { 'overage.purchase.at': 1 }, sparse: true },
    { fields: { 'unrecorded.at': 1 }, sparse: true },
    { fields: { usageDueAt: 1, _id: 1 }, unique: 'embedded' },
  ],
  large: ['usage', 'usageBatch'],
  filtersBy: { fields: ['dueAt'], reason: 'once a minute, of the accounts with live jobs' },
};

/** The ledgers of all accounts, for all that read and change them. To be opened before the connection's indexes. */
export function openLedgers(connection: Connection): Collection<LedgerRecord> {
  return new Collection<LedgerRecord>(connection, LEDGERS);
}

/** A used plan slot. */
export interface SlotHolder {
  /** Epoch milliseconds. */
  readonly since: number;
  /** The period of the quota from which its job has reserved a PDF; absent when the job uses no quota. */
  readonly quota?: Period;
  /** Bytes of the input of a job that was admitted with the slot; given back if the job is never written. */
  readonly bytes?: number;
}

/** Jobs that have got positions, and may not all be at them yet. */
export interface PendingPositions {
  /** Epoch milliseconds. */
  readonly since: number;
  /** Ids of the new jobs; their reservations are given back if they are never written. */
  readonly jobs: readonly string[];
  /** For a batch, the number of its items instead of ids. The jobs are written by the expansion of the batch. */
  readonly batchOf?: number;
  readonly quota?: Period;
  /** Bytes of the inputs of the new jobs. */
  readonly bytes?: number;
}

/**
 * The resources that one account uses: plan slots, positions in its queues, quota. All of them are in this one
 * record, so that one atomic update takes or gives them back, at the same cost however many jobs wait.
 *
 * The record also names every job that is between two steps: if a process dies in between, a sweep finds the job by its
 * name and does the rest. Only a job that waits at its position is not named; it is found by the number of the
 * position.
 */
export interface LedgerRecord {
  /** The account. */
  readonly _id: string;
  /** Grows with every change: a decision of a sweep is valid only for the revision that the sweep has read. */
  readonly revision: number;
  /**
   * By when a sweep looks at the record: never later than the moment at which one of its entries is overdue. Changes set
   * it earlier, never later (`noted` in ledger-due.ts); a sweep sets it later. Absent while nothing is to be checked.
   */
  readonly dueAt?: Date;
  /** Of sweeps' claims, as in every due-queue. */
  readonly fence?: number;
  /** The time of the database when slots or waiting jobs last changed; absent in records of older versions. */
  readonly changedAt?: Date;
  /**
   * Set while the record is not at rest, otherwise absent, so that its sparse index has only such records. Older versions
   * of Platen, which may run beside this one, set it without `dueAt`.
   */
  readonly active?: true;
  /** Plan slots taken. */
  readonly inFlight: number;
  /** The jobs that hold the slots, by id. */
  readonly holders?: Readonly<Record<string, SlotHolder>>;
  /** Jobs that wait, at a position or for the time of their next attempt. */
  readonly waiting: number;
  readonly queues?: Readonly<Partial<Record<QueueName, Partial<QueueState>>>>;
  /**
   * Jobs that have not been written at their positions yet, by the id of their admission or of the returning job. While
   * there is no entry, a position without a job stays empty.
   */
  readonly pending?: Readonly<Record<string, PendingPositions>>;
  /** Waiting jobs that are about to be ended: `finalisingName` → epoch milliseconds. */
  readonly finalising?: Readonly<Record<string, number>>;
  /** Ended jobs that have given back what they held, and have steps left (job-follow-up.ts): id → epoch milliseconds. */
  readonly ending?: Readonly<Record<string, number>>;
  /**
   * PDFs used, by period. A job reserves one at its admission and gives it back if it ends without a PDF. So the number
   * never exceeds the quota, and while no job is live it is the number of PDFs produced.
   */
  readonly quota?: Readonly<Record<string, number>>;
  /** PDFs that were bought beyond the quota. */
  readonly blockBalance?: BlockBalance;
  /** The limits of automatic purchases, and the current purchase. */
  readonly overage?: Overage;
  /** Changes of `blockBalance` and `overage` that are not in the audit log yet. */
  readonly unrecorded?: readonly UnrecordedChange[];
  /** Outcomes of jobs, and the batch of those before them that is being moved into the buckets (ledger-usage.ts). */
  readonly usage?: UsageByHour;
  readonly usageBatch?: UsageByHour;
  /** How many batches there were. */
  readonly usageBatches?: number;
  /** When they are to be moved; absent when there was nothing to move. */
  readonly usageDueAt?: Date;
  /** Bytes that the account stores: inputs, PDFs, templates. A sweep corrects the number after a crash. */
  readonly stored?: number;
  /** The revision at which `stored` was last recounted. */
  readonly recounted?: number;
}

/** The fields that decide which jobs get slots, without the names of jobs, which may be many. */
export type SeenLedger = Pick<
  LedgerRecord,
  '_id' | 'revision' | 'inFlight' | 'waiting' | 'queues' | 'pending'
>;

/** The jobs that get the next slots, at the first positions of a queue, according to a ledger that was read. */
export interface NextInQueue {
  readonly queue: QueueName;
  /** The number of the first job's position. */
  readonly head: number;
  readonly jobs: readonly Pick<Job, '_id' | 'quotaPeriod'>[];
  /** Plan slots that the account may hold. */
  readonly cap: number;
  readonly seen: SeenLedger;
}

/** The head and the tail of a queue. */
export function queueState(ledger: Pick<LedgerRecord, 'queues'>, queue: QueueName): QueueState {
  const { head = 0, tail = 0 } = ledger.queues?.[queue] ?? {};
  return { head, tail };
}

/** The number of positions that are served before this one. Some may be those of cancelled jobs. */
export function positionsBefore(position: string, ledger: Pick<LedgerRecord, 'queues'>): number {
  const [, own, number] = position.split('/');
  let before = 0;
  for (const queue of PRIORITY_QUEUES) {
    const { head, tail } = queueState(ledger, queue);
    if (queue === own) return before + Math.max(0, Number(number) - head);
    before += Math.max(0, tail - head);
  }
  return before;
}

/** What the demand is measured by, perhaps without the holders' names. */
export type LedgerLoad = Pick<
  LedgerRecord,
  '_id' | 'inFlight' | 'waiting' | 'queues' | 'holders' | 'changedAt'
>;

/**
 * The number of waiting jobs, for those who show it. A job that ends while it is being given a slot is subtracted twice until
 * the slot has been taken back, so the record may have one less than none.
 */
export function waitingIn({ waiting }: Pick<LedgerRecord, 'waiting'>): number {
  return Math.max(0, waiting);
}

/** Jobs that may run at the moment: jobs in flight, and waiting jobs up to the number of free slots. */
export function admissibleDemand(
  ledger: Pick<LedgerRecord, 'inFlight' | 'waiting'>,
  concurrentRenders: number,
): number {
  const { inFlight } = ledger;
  return inFlight + Math.min(waitingIn(ledger), Math.max(0, concurrentRenders - inFlight));
}

/** Whether no job of the account is at a position. */
export function queuesAreEmpty(ledger: Pick<LedgerRecord, 'queues'>): boolean {
  return PRIORITY_QUEUES.every((queue) => {
    const { head, tail } = queueState(ledger, queue);
    return head >= tail;
  });
}

/** Whether every job of the account has been written at its position. */
export function noneIsPending({ pending = {} }: Pick<LedgerRecord, 'pending'>): boolean {
  return Object.keys(pending).length === 0;
}

/** Whether a sweep has nothing to check for an account. */
export function isAtRest(ledger: LedgerRecord): boolean {
  const { inFlight, waiting, holders, pending, finalising, ending } = ledger;
  const named = [holders, pending, finalising, ending].some((names) => Object.keys(names ?? {}).length > 0);
  return inFlight === 0 && waiting === 0 && !named && queuesAreEmpty(ledger);
}
