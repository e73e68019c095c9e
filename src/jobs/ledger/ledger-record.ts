import type { UnrecordedChange } from '../../audit/audit-log.ts';
import type { CollectionSpec } from '../../store/collection.ts';
import type { Period } from '../../usage/quota-period.ts';
import type { Job } from '../job.ts';
import { LANES, type Lane, type LaneState } from '../lanes.ts';
import type { Bought } from './bought-units.ts';
import type { Overage } from './overage.ts';

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

/** Jobs that were given places, and may not all be at them yet. */
export interface Arrival {
  /** Epoch milliseconds. */
  readonly since: number;
  /** Those that are new: what they have taken is given back if they are never written. */
  readonly jobs: readonly string[];
  /** Of a batch instead of their ids: how many items it has. Its jobs are written by whoever expands it. */
  readonly batchOf?: number;
  readonly quota?: Period;
  /** Bytes of the inputs of those that are new. */
  readonly bytes?: number;
}

/**
 * What one account has taken: plan slots, places in its lanes, quota. Everything that is limited for an account stands in
 * this one record, so that it is taken and given back in one atomic update, and costs the same however many jobs wait.
 *
 * The record also names every job that is between two steps: whatever dies in between, a sweep finds the job by its name
 * and does the rest. Only a job that simply waits at its place is not named: it is found by the number of the place.
 */
export interface LedgerRecord {
  /** The account. */
  readonly _id: string;
  /** Grows with every change: what a sweep decides holds only for the record that it has seen. */
  readonly revision: number;
  /** Set while there is something to look after; absent otherwise, so that its sparse index holds only these. */
  readonly active?: true;
  /** Plan slots taken. */
  readonly inFlight: number;
  /** By job id: who holds them. */
  readonly holders?: Readonly<Record<string, SlotHolder>>;
  /** Jobs that wait, at a place or for the time of their next attempt. */
  readonly waiting: number;
  readonly lanes?: Readonly<Partial<Record<Lane, Partial<LaneState>>>>;
  /**
   * By the id of their admission, or of the job that comes back: who is on the way to places. While there is nobody, a
   * place at which nobody is found is one that nobody is coming to.
   */
  readonly arriving?: Readonly<Record<string, Arrival>>;
  /** Waiting jobs that are about to be ended: `leavingName` → epoch milliseconds. */
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

/** What the hand-over of slots goes by: a ledger but for the names in it, which may be many. */
export type SeenLedger = Pick<
  LedgerRecord,
  '_id' | 'revision' | 'inFlight' | 'waiting' | 'lanes' | 'arriving'
>;

/** Who are to get slots: the jobs at the first places of a lane, one after the other, by a ledger as it was seen. */
export interface NextInLane {
  readonly lane: Lane;
  /** The number of the first one's place. */
  readonly head: number;
  readonly jobs: readonly Pick<Job, '_id' | 'quotaPeriod'>[];
  /** Plan slots that the account may hold. */
  readonly cap: number;
  readonly seen: SeenLedger;
}

/** Where a lane stands. */
export function laneState(ledger: Pick<LedgerRecord, 'lanes'>, lane: Lane): LaneState {
  const { head = 0, tail = 0 } = ledger.lanes?.[lane] ?? {};
  return { head, tail };
}

/** Jobs that may run at the moment: those that do, and those that wait and would fit beside them. */
export function admissibleDemand({ inFlight, waiting }: LedgerRecord, concurrentRenders: number): number {
  return inFlight + Math.min(waiting, Math.max(0, concurrentRenders - inFlight));
}

/** Whether nobody is at a place of an account. */
export function lanesAreEmpty(ledger: Pick<LedgerRecord, 'lanes'>): boolean {
  return LANES.every((lane) => {
    const { head, tail } = laneState(ledger, lane);
    return head >= tail;
  });
}

/** Whether nobody is on the way to a place of an account. */
export function nobodyArrives({ arriving = {} }: Pick<LedgerRecord, 'arriving'>): boolean {
  return Object.keys(arriving).length === 0;
}

/** Whether nothing of an account is to be looked after. */
export function isAtRest(ledger: LedgerRecord): boolean {
  const { inFlight, waiting, holders, arriving, leaving, ending } = ledger;
  const named = [holders, arriving, leaving, ending].some((names) => Object.keys(names ?? {}).length > 0);
  return inFlight === 0 && waiting === 0 && !named && lanesAreEmpty(ledger);
}
