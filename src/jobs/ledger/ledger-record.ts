import type { UnrecordedChange } from '../../audit/audit-log.ts';
import type { CollectionSpec } from '../../store/collection.ts';
import type { Period } from '../../usage/quota-period.ts';
import type { Job } from '../job.ts';
import { PRIORITY_QUEUES, type QueueName, type QueueState } from '../priority-queues.ts';
import type { Bought } from '../purchases/bought-units.ts';
import type { Overage } from '../purchases/overage.ts';

export const LEDGERS: CollectionSpec = {
  name: 'ledgers',
  indexes: [
    { fields: { active: 1 }, sparse: true },
    { fields: { 'overage.gate.at': 1 }, sparse: true },
    { fields: { 'unrecorded.at': 1 }, sparse: true },
  ],
};

/** A plan slot that is taken. */
export interface SlotHolder {
  /** Epoch milliseconds. */
  readonly since: number;
  /** The period whose quota its job has reserved a PDF of; absent for one that uses none. */
  readonly quota?: Period;
  /** Bytes of the input of a job that was let in with the slot: given back if it is never written. */
  readonly bytes?: number;
}

/** Jobs that were given positions, and may not all be at them yet. */
export interface Arrival {
  /** Epoch milliseconds. */
  readonly since: number;
  /** The new ones: what they have taken is given back if they are never written. */
  readonly jobs: readonly string[];
  /** Of a batch instead of their ids: how many items it has. Its jobs are written by its expansion. */
  readonly batchOf?: number;
  readonly quota?: Period;
  /** Bytes of the inputs of the new ones. */
  readonly bytes?: number;
}

/**
 * What one account has taken: plan slots, positions in its queues, quota. Everything that is limited for an account is in
 * this one record, so that it is taken and given back in one atomic update, and costs the same however many jobs wait.
 *
 * The record also names every job that is between two steps: whatever process dies in between, a sweep finds the job by its
 * name and does the rest. Only a job that waits at its position is not named: it is found by the number of the position.
 */
export interface LedgerRecord {
  /** The account. */
  readonly _id: string;
  /** Grows with every change: what a sweep decides holds only for the record that it has seen. */
  readonly revision: number;
  /** Set while a sweep has something to check; absent otherwise, so that its sparse index holds only these. */
  readonly active?: true;
  /** Plan slots taken. */
  readonly inFlight: number;
  /** The jobs that hold them, by id. */
  readonly holders?: Readonly<Record<string, SlotHolder>>;
  /** Jobs that wait, at a position or for the time of their next attempt. */
  readonly waiting: number;
  readonly lanes?: Readonly<Partial<Record<QueueName, Partial<QueueState>>>>;
  /**
   * Jobs that are still to be written at their positions, by the id of their admission or of the job that comes back. While
   * there is none, a position at which no job is found stays empty.
   */
  readonly arriving?: Readonly<Record<string, Arrival>>;
  /** Waiting jobs that are about to be ended: `finalisingName` → epoch milliseconds. */
  readonly leaving?: Readonly<Record<string, number>>;
  /** Jobs that have ended and given back what they held, and whose end is still to be followed up: id → epoch milliseconds. */
  readonly ending?: Readonly<Record<string, number>>;
  /**
   * PDFs used, by period. A job reserves one when it is let in and gives it back if it ends without a PDF; so this never
   * passes the quota, and at rest it is the number of PDFs produced.
   */
  readonly quota?: Readonly<Record<string, number>>;
  /** PDFs that were bought beyond the quota. */
  readonly bought?: Bought;
  /** What may be bought by itself, and what is being bought. */
  readonly overage?: Overage;
  /** What has changed of the two of them and is not in the audit log yet. */
  readonly unrecorded?: readonly UnrecordedChange[];
  /** Bytes that the account keeps: inputs, PDFs, templates. Put right by a sweep when a crash has left it wrong. */
  readonly stored?: number;
  /** The revision at which that was last counted anew. */
  readonly recounted?: number;
}

/** What decides who gets slots: a ledger but for the names in it, which may be many. */
export type SeenLedger = Pick<
  LedgerRecord,
  '_id' | 'revision' | 'inFlight' | 'waiting' | 'lanes' | 'arriving'
>;

/** The jobs that are to get slots: at the first positions of a queue, one after another, by a ledger as it was seen. */
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
export function queueState(ledger: Pick<LedgerRecord, 'lanes'>, queue: QueueName): QueueState {
  const { head = 0, tail = 0 } = ledger.lanes?.[queue] ?? {};
  return { head, tail };
}

/** How many positions are served before this one. Some may be those of cancelled jobs. */
export function positionsBefore(position: string, ledger: Pick<LedgerRecord, 'lanes'>): number {
  const [, own, number] = position.split('/');
  let before = 0;
  for (const queue of PRIORITY_QUEUES) {
    const { head, tail } = queueState(ledger, queue);
    if (queue === own) return before + Math.max(0, Number(number) - head);
    before += Math.max(0, tail - head);
  }
  return before;
}

/** Jobs that may run at the moment: in flight, and waiting up to the free slots. */
export function admissibleDemand({ inFlight, waiting }: LedgerRecord, concurrentRenders: number): number {
  return inFlight + Math.min(waiting, Math.max(0, concurrentRenders - inFlight));
}

/** Whether no job is at a position of an account. */
export function queuesAreEmpty(ledger: Pick<LedgerRecord, 'lanes'>): boolean {
  return PRIORITY_QUEUES.every((queue) => {
    const { head, tail } = queueState(ledger, queue);
    return head >= tail;
  });
}

/** Whether no job is still to be written at a position of an account. */
export function noneIsPending({ arriving = {} }: Pick<LedgerRecord, 'arriving'>): boolean {
  return Object.keys(arriving).length === 0;
}

/** Whether a sweep has nothing to check of an account. */
export function isAtRest(ledger: LedgerRecord): boolean {
  const { inFlight, waiting, holders, arriving, leaving, ending } = ledger;
  const named = [holders, arriving, leaving, ending].some((names) => Object.keys(names ?? {}).length > 0);
  return inFlight === 0 && waiting === 0 && !named && queuesAreEmpty(ledger);
}
