import type { Connection, mongo } from 'mongoose';
import type { Clock } from '../../clock.ts';
import { Collection, type CollectionSpec, type Update } from '../../store/collection.ts';
import type { Period } from '../../usage/quota-period.ts';
import type { Job } from '../job.ts';
import type { Lane } from '../lanes.ts';
import { type LedgerRecord, laneState } from './ledger-record.ts';

/** The quota that an admission uses: a period and the PDFs that may be used in it. */
export interface QuotaLimit {
  readonly period: Period;
  readonly limit: number;
}

const LEDGERS: CollectionSpec = { name: 'ledgers', indexes: [{ fields: { active: 1 }, sparse: true }] };

type Change = Update<LedgerRecord>;
type Filter = mongo.Filter<LedgerRecord>;

/**
 * Takes and gives back what accounts have taken (ledger-record.ts says what). Each function is one atomic update of one
 * account's record, and done twice it changes nothing the second time.
 */
export class Ledger {
  readonly #records: Collection<LedgerRecord>;
  readonly #clock: Clock;

  constructor(connection: Connection, clock: Clock) {
    this.#records = new Collection<LedgerRecord>(connection, LEDGERS);
    this.#clock = clock;
  }

  find(accountId: string): Promise<LedgerRecord | undefined> {
    return this.#records.findById(accountId);
  }

  /** The records of all accounts that have something to look after. */
  active(): Promise<LedgerRecord[]> {
    return this.#records.find({ active: true });
  }

  /** PDFs used in a period. */
  async quotaUsed(accountId: string, period: Period): Promise<number> {
    const record = await this.#records.findById(accountId, { quota: 1 });
    return record?.quota?.[period] ?? 0;
  }

  /**
   * Takes a plan slot and a PDF of the quota for one new job, if nobody of the account waits before it.
   *
   * @param cap plan slots that the account may hold.
   * @returns false when the slots or the quota are used up, or others wait.
   */
  async takeSlot(
    accountId: string,
    jobId: string,
    cap: number,
    quota: QuotaLimit | undefined,
  ): Promise<boolean> {
    if (cap < 1 || (quota !== undefined && quota.limit < 1)) return false;
    const since = this.#clock.now().getTime();
    const taken = await this.#records.upsertMatching(
      {
        _id: accountId,
        // As ranges: an equality would be written into a record that is made.
        waiting: { $lt: 1 },
        inFlight: { $lt: cap },
        ...notNamed(jobId),
        ...withinQuota(quota, 1),
      },
      {
        $inc: { inFlight: 1, revision: 1, ...(quota && { [`quota.${quota.period}`]: 1 }) },
        $set: { [`holders.${jobId}`]: { since, ...(quota && { quota: quota.period }) }, active: true },
        $setOnInsert: { waiting: 0 },
      } as Change,
    );
    return taken !== undefined;
  }

  /**
   * Takes places in a lane and as many PDFs of the quota for new jobs: for all of them or for none.
   *
   * @param admission its id, which names the arrival until it is confirmed, is that of the first job.
   * @param maxWaiting jobs of the account that may wait.
   * @param onlyBehindOthers take them only if others wait already.
   * @returns the number of the first place; undefined when places or quota do not suffice.
   */
  async takePlaces(
    accountId: string,
    admission: { readonly id: string; readonly jobs: readonly string[]; readonly lane: Lane },
    limits: { readonly maxWaiting: number; readonly quota: QuotaLimit | undefined },
    onlyBehindOthers = false,
  ): Promise<number | undefined> {
    const { id, jobs, lane } = admission;
    const { maxWaiting, quota } = limits;
    const count = jobs.length;
    if (count > maxWaiting || (quota !== undefined && count > quota.limit)) return undefined;
    const since = this.#clock.now().getTime();
    const filter = {
      _id: accountId,
      waiting: { $not: { $gt: maxWaiting - count }, ...(onlyBehindOthers && { $gt: 0 }) },
      ...notNamed(id),
      ...withinQuota(quota, count),
    } as Filter;
    const update = {
      $inc: {
        waiting: count,
        revision: 1,
        [`lanes.${lane}.tail`]: count,
        ...(quota && { [`quota.${quota.period}`]: count }),
      },
      $set: { [`arriving.${id}`]: { since, jobs, ...(quota && { quota: quota.period }) }, active: true },
    } as Change;
    const taken = onlyBehindOthers
      ? await this.#records.findOneAndUpdate(filter, update)
      : await this.#records.upsertMatching(filter, { ...update, $setOnInsert: { inFlight: 0 } } as Change);
    return taken === undefined ? undefined : laneState(taken, lane).tail - count;
  }

  /** The jobs of an arrival are written. @returns undefined when a sweep has given the arrival up meanwhile. */
  confirmArrival(accountId: string, admissionId: string): Promise<LedgerRecord | undefined> {
    const arrival = `arriving.${admissionId}`;
    return this.#change({ _id: accountId, [arrival]: { $exists: true } }, { $unset: { [arrival]: '' } });
  }

  /** Gives back what an arrival has taken for `missing` jobs that were never written; the others stay. */
  undoArrival(
    accountId: string,
    admissionId: string,
    missing: number,
    quota: Period | undefined,
  ): Promise<LedgerRecord | undefined> {
    const arrival = `arriving.${admissionId}`;
    return this.#change(
      { _id: accountId, [arrival]: { $exists: true } },
      {
        $unset: { [arrival]: '' },
        $inc: { waiting: -missing, ...(quota && { [`quota.${quota}`]: -missing }) },
      },
    );
  }

  /**
   * Gives back the slot, and the PDF of the quota, of a job that was never written.
   *
   * @param since only the slot that was taken then: for who decides by what was seen a while ago.
   */
  undoSlot(
    accountId: string,
    jobId: string,
    quota: Period | undefined,
    since?: number,
  ): Promise<LedgerRecord | undefined> {
    const back = { $inc: { inFlight: -1, ...(quota && { [`quota.${quota}`]: -1 }) } };
    return this.#changeHeld(accountId, jobId, back, since);
  }

  /** Hands a slot to the job at the head of a lane. @returns undefined when no slot is free, or the head has moved. */
  takeNext(
    accountId: string,
    lane: Lane,
    job: Pick<Job, '_id' | 'quotaPeriod'>,
    expected: { readonly head: number; readonly cap: number },
  ): Promise<LedgerRecord | undefined> {
    const holder = `holders.${job._id}`;
    const since = this.#clock.now().getTime();
    return this.#change(
      {
        _id: accountId,
        inFlight: { $lt: expected.cap },
        [holder]: { $exists: false },
        ...headIs(lane, expected.head),
      },
      {
        $inc: { inFlight: 1, waiting: -1, [`lanes.${lane}.head`]: 1 },
        $set: { [holder]: { since, ...(job.quotaPeriod && { quota: job.quotaPeriod }) }, active: true },
      },
    );
  }

  /** Passes over a place at which nobody waits any more. @returns undefined when the head has moved. */
  passOver(accountId: string, lane: Lane, head: number): Promise<LedgerRecord | undefined> {
    return this.#change({ _id: accountId, ...headIs(lane, head) }, { $inc: { [`lanes.${lane}.head`]: 1 } });
  }

  /**
   * Gives out one more place in a lane, to a job that is counted as waiting already; to be confirmed as an arrival by the
   * id of the job.
   *
   * @returns its number.
   */
  async appendPlace(accountId: string, lane: Lane, jobId: string): Promise<number> {
    const since = this.#clock.now().getTime();
    const record = await this.#records.upsert(accountId, {
      $inc: { [`lanes.${lane}.tail`]: 1, revision: 1 },
      $set: { [`arriving.${jobId}`]: { since, jobs: [] }, active: true },
      $setOnInsert: { inFlight: 0, waiting: 0 },
    } as Change);
    return laneState(record, lane).tail - 1;
  }

  /**
   * A job that held a slot waits again: its slot is free.
   *
   * @param since as of `undoSlot`.
   */
  backToWaiting(accountId: string, jobId: string, since?: number): Promise<LedgerRecord | undefined> {
    return this.#changeHeld(accountId, jobId, { $inc: { inFlight: -1, waiting: 1 } }, since);
  }

  /** Says that waiting jobs are about to be ended, so that a crash in the middle is found. */
  async announceLeaving(accountId: string, jobIds: readonly string[]): Promise<void> {
    const now = this.#clock.now().getTime();
    await this.#change({ _id: accountId }, { $set: { ...fields('leaving', jobIds, now), active: true } });
  }

  /** They live on: somebody else has moved them. */
  async withdrawLeaving(accountId: string, jobIds: readonly string[]): Promise<void> {
    await this.#change({ _id: accountId }, { $unset: fields('leaving', jobIds, '') });
  }

  /**
   * A job has ended: gives back what it held, be it a slot or a place, and its PDF of the quota if it made none.
   *
   * @returns undefined when that has been done before.
   */
  leave(job: Job): Promise<LedgerRecord | undefined> {
    const { _id, accountId, quotaPeriod } = job;
    const unused = quotaPeriod !== null && job.state !== 'completed';
    const back = unused ? { [`quota.${quotaPeriod}`]: -1 } : {};
    const ending = { [`ending.${_id}`]: this.#clock.now().getTime(), active: true as const };
    if (job.endedFrom !== 'queued') {
      return this.#changeHeld(accountId, _id, { $inc: { inFlight: -1, ...back }, $set: ending });
    }
    const leaving = `leaving.${_id}`;
    return this.#change(
      { _id: accountId, [leaving]: { $exists: true } },
      { $unset: { [leaving]: '' }, $inc: { waiting: -1, ...back }, $set: ending },
    );
  }

  /** Everything that follows the end of these jobs has been done. */
  async forgetEnded(accountId: string, jobIds: readonly string[]): Promise<void> {
    await this.#change({ _id: accountId }, { $unset: fields('ending', jobIds, '') });
  }

  /** Notes that nothing of an account is to be looked after. @returns whether the record was still as seen. */
  rest({ _id, revision }: LedgerRecord): Promise<boolean> {
    return this.#records.updateOne({ _id, revision }, { $unset: { active: '' } });
  }

  /**
   * Puts the number of waiting jobs right, where a crash between two steps has left it one off.
   *
   * @returns whether the record was still as seen.
   */
  async setWaiting({ _id, revision }: LedgerRecord, waiting: number): Promise<boolean> {
    return (await this.#change({ _id, revision }, { $set: { waiting } })) !== undefined;
  }

  #changeHeld(
    accountId: string,
    jobId: string,
    update: Change,
    since?: number,
  ): Promise<LedgerRecord | undefined> {
    const holder = `holders.${jobId}`;
    const held = since === undefined ? { [holder]: { $exists: true } } : { [`${holder}.since`]: since };
    return this.#change({ _id: accountId, ...held }, { ...update, $unset: { [holder]: '' } });
  }

  #change(filter: Filter, update: Change): Promise<LedgerRecord | undefined> {
    return this.#records.findOneAndUpdate(filter, {
      ...update,
      $inc: { revision: 1, ...update.$inc },
    } as Change);
  }
}

/** One admission at a time takes something for a job. */
function notNamed(jobId: string): Filter {
  return { [`holders.${jobId}`]: { $exists: false }, [`arriving.${jobId}`]: { $exists: false } };
}

function withinQuota(quota: QuotaLimit | undefined, count: number): Filter {
  // Not "at most": a period that has not begun has no number yet.
  return quota === undefined ? {} : { [`quota.${quota.period}`]: { $not: { $gt: quota.limit - count } } };
}

function headIs(lane: Lane, head: number): Filter {
  return { [`lanes.${lane}.head`]: head === 0 ? { $exists: false } : head };
}

function fields<T>(map: string, jobIds: readonly string[], value: T): Record<string, T> {
  return Object.fromEntries(jobIds.map((jobId) => [`${map}.${jobId}`, value]));
}
