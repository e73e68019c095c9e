import type { mongo } from 'mongoose';
import type { Clock } from '../../../infra/clock.ts';
import type { Collection, Update } from '../../../infra/store/collection.ts';
import type { Period } from '../../../tenants/plans/quota-period.ts';
import { finalisingName, type Job } from '../job.ts';
import type { QueueName } from '../priority-queues.ts';
import { LastSeen, NAMED, SEEN } from './last-seen.ts';
import { noted } from './ledger-due.ts';
import {
  amounts,
  fields,
  givenBack,
  handing,
  headIs,
  idsOf,
  isBeyond,
  noEarlierPositions,
  notNamed,
  type QuotaLimit,
  type StoredLimit,
  withinQuota,
  withinStored,
} from './ledger-filter.ts';
import { type LedgerRecord, type NextInQueue, queueState, type SeenLedger } from './ledger-record.ts';
import { countedEnds } from './ledger-usage.ts';

export type { QuotaLimit, StoredLimit } from './ledger-filter.ts';

type Change = Update<LedgerRecord>;
type Filter = mongo.Filter<LedgerRecord>;

/** What a record at rest lacks. */
const DATED = { active: '', dueAt: '' } as const;

/**
 * Takes and gives back the resources of accounts (see ledger-record.ts). Each function is one atomic update of one
 * account's record, and repeating it changes nothing.
 */
export class Ledger {
  readonly #records: Collection<LedgerRecord>;
  readonly #clock: Clock;
  readonly #seen = new LastSeen();

  constructor(records: Collection<LedgerRecord>, clock: Clock) {
    this.#records = records;
    this.#clock = clock;
  }

  async find(accountId: string): Promise<LedgerRecord | undefined> {
    const record = await this.#records.findById(accountId);
    this.#seen.remember(record);
    return record;
  }

  /** The last known ledger of an account in this process; other processes may have changed it since. */
  lastSeen(accountId: string): SeenLedger | undefined {
    return this.#seen.get(accountId);
  }

  /** The bytes that an account stored a moment ago; undefined when its ledger has not been read since. */
  storedLately(accountId: string): number | undefined {
    return this.#seen.storedLately(accountId);
  }

  /** The PDFs of a period that an account had used a moment ago; undefined when no job of it has ended here since. */
  usedLately(accountId: string, period: Period): number | undefined {
    return this.#seen.usedLately(accountId, period);
  }

  /** Forgets the last known ledger, because other processes have changed it. */
  forgetSeen(accountId: string): void {
    this.#seen.forget(accountId);
  }

  /** The records of all accounts that a sweep has to check. */
  active(): Promise<LedgerRecord[]> {
    return this.#records.find({ active: true });
  }

  /** PDFs used in a period. */
  async quotaUsed(accountId: string, period: Period): Promise<number> {
    const record = await this.#records.findById(accountId, { quota: 1 });
    return record?.quota?.[period] ?? 0;
  }

  /**
   * Takes a plan slot, a PDF of the quota and storage for the input of one new job, if no job of the account waits
   * before it.
   *
   * @param cap plan slots that the account may hold.
   * @returns false when the slots, the quota or the storage are used up, or other jobs wait.
   */
  async takeSlot(
    accountId: string,
    jobId: string,
    cap: number,
    quota: QuotaLimit | undefined,
    stored?: StoredLimit,
  ): Promise<boolean> {
    if (cap < 1 || isBeyond(1, quota, stored)) return false;
    const bytes = stored?.bytes;
    const now = this.#clock.now();
    const since = now.getTime();
    const taken = await this.#records.upsertMatching(
      {
        _id: accountId,
        // As ranges, because an upsert would write an equality into a new record.
        waiting: { $lt: 1 },
        inFlight: { $lt: cap },
        ...notNamed(jobId),
        ...withinQuota(quota, 1),
        ...withinStored(stored),
      },
      {
        $inc: { inFlight: 1, revision: 1, ...amounts(1, quota?.period, bytes) },
        $set: {
          [`holders.${jobId}`]: { since, ...(quota && { quota: quota.period }), ...(bytes && { bytes }) },
          active: true,
        },
        ...noted(now),
        $setOnInsert: { waiting: 0 },
      },
      SEEN,
    );
    this.#seen.remember(taken);
    return taken !== undefined;
  }

  /**
   * Takes positions in a queue, as many PDFs of the quota, and storage for the inputs of new jobs: for all of them or
   * none.
   *
   * @param admission its id, which names the positions until they are confirmed, is that of the first job or of the batch.
   * For a batch, `batchOf` is the number of items, and `jobs` is empty.
   * @param maxWaiting jobs of the account that may wait.
   * @param onlyBehindOthers whether to take positions only if other jobs wait already.
   * @returns the number of the first position; undefined when positions, quota or storage do not suffice.
   */
  async takePositions(
    accountId: string,
    admission: {
      readonly id: string;
      readonly jobs: readonly string[];
      readonly queue: QueueName;
      readonly batchOf?: number;
    },
    limits: {
      readonly maxWaiting: number;
      readonly quota: QuotaLimit | undefined;
      readonly stored?: StoredLimit;
    },
    onlyBehindOthers = false,
  ): Promise<number | undefined> {
    const { id, jobs, queue, batchOf } = admission;
    const { maxWaiting, quota, stored } = limits;
    const count = batchOf ?? jobs.length;
    const now = this.#clock.now();
    const pending = {
      since: now.getTime(),
      jobs,
      ...(batchOf !== undefined && { batchOf }),
      ...(quota && { quota: quota.period }),
      ...(stored && { bytes: stored.bytes }),
    };
    if (count > maxWaiting || isBeyond(count, quota, stored)) return undefined;
    const filter = {
      _id: accountId,
      waiting: { $not: { $gt: maxWaiting - count }, ...(onlyBehindOthers && { $gt: 0 }) },
      ...notNamed(id),
      ...withinQuota(quota, count),
      ...withinStored(stored),
    };
    const update: Change = {
      $inc: {
        waiting: count,
        revision: 1,
        [`queues.${queue}.tail`]: count,
        ...amounts(count, quota?.period, stored?.bytes),
      },
      $set: { [`pending.${id}`]: pending, active: true },
      ...noted(now),
    };
    const taken = onlyBehindOthers
      ? await this.#records.findOneAndUpdate(filter, update, SEEN)
      : await this.#records.upsertMatching(filter, { ...update, $setOnInsert: { inFlight: 0 } }, SEEN);
    this.#seen.remember(taken);
    return taken === undefined ? undefined : queueState(taken, queue).tail - count;
  }

  /** The jobs are written at their positions. @returns undefined when a sweep has given them up meanwhile. */
  confirmPositions(accountId: string, admissionId: string): Promise<SeenLedger | undefined> {
    const pending = `pending.${admissionId}`;
    return this.#change({ _id: accountId, [pending]: { $exists: true } }, { $unset: { [pending]: '' } });
  }

  /**
   * Gives back what an admission took for `missing` jobs that were never written; the other jobs stay.
   *
   * @param since as for `undoSlot`: another attempt of the same request may have arrived under the same name meanwhile.
   */
  undoPositions(
    accountId: string,
    admissionId: string,
    missing: number,
    quota: Period | undefined,
    since?: number,
    bytes = 0,
  ): Promise<SeenLedger | undefined> {
    const pending = `pending.${admissionId}`;
    const seen = since === undefined ? { [pending]: { $exists: true } } : { [`${pending}.since`]: since };
    return this.#change(
      { _id: accountId, ...seen },
      {
        $unset: { [pending]: '' },
        $inc: { waiting: -missing, ...amounts(-missing, quota, -bytes) },
      },
    );
  }

  /**
   * Gives back the slot, the PDF of the quota and the storage of a job that was never written.
   *
   * @param since only the slot that was taken at this time, for callers that have read the ledger a while ago.
   */
  undoSlot(
    accountId: string,
    jobId: string,
    quota: Period | undefined,
    since?: number,
    bytes = 0,
  ): Promise<SeenLedger | undefined> {
    const back = { $inc: { inFlight: -1, ...amounts(-1, quota, -bytes) } };
    return this.#changeHeld(accountId, jobId, back, since);
  }

  /** Gives a slot to the job at the head of a queue. @returns undefined when no slot is free, or the head has moved. */
  takeNext(
    accountId: string,
    queue: QueueName,
    job: NextInQueue['jobs'][number],
    { head, cap }: Pick<NextInQueue, 'head' | 'cap'>,
  ): Promise<SeenLedger | undefined> {
    const { filter, $inc, $set } = handing({ queue, head, jobs: [job] }, this.#clock.now());
    return this.#change(
      { _id: accountId, inFlight: { $lt: cap }, ...filter },
      { $inc: { inFlight: 1, ...$inc }, $set },
    );
  }

  /** Passes over positions at the head at which no job waits any more. @returns undefined when the head has moved. */
  passOver(
    accountId: string,
    queue: QueueName,
    head: number,
    positions = 1,
  ): Promise<SeenLedger | undefined> {
    return this.#change(
      { _id: accountId, ...headIs(queue, head) },
      { $inc: { [`queues.${queue}.head`]: positions } },
    );
  }

  /** @returns another position for a job that counts as waiting; to be confirmed by the job's id. */
  async appendPosition(accountId: string, queue: QueueName, jobId: string): Promise<number> {
    const now = this.#clock.now();
    const change: Change = {
      $inc: { [`queues.${queue}.tail`]: 1, revision: 1 },
      $set: { [`pending.${jobId}`]: { since: now.getTime(), jobs: [] }, active: true },
      ...noted(now),
      $setOnInsert: { inFlight: 0, waiting: 0 },
    };
    const record = await this.#records.upsert(accountId, change, { projection: SEEN });
    this.#seen.remember(record);
    return queueState(record, queue).tail - 1;
  }

  /** A job that held a slot waits again; its slot is free. @param since as for `undoSlot`. */
  backToWaiting(accountId: string, jobId: string, since?: number): Promise<SeenLedger | undefined> {
    return this.#changeHeld(accountId, jobId, { $inc: { inFlight: -1, waiting: 1 } }, since);
  }

  /** Names waiting jobs that are about to end, for the sweep after a crash. @param names by `finalisingName`. */
  async announceEnds(accountId: string, ...names: readonly string[]): Promise<void> {
    const now = this.#clock.now().getTime();
    await this.#change({ _id: accountId }, { $set: fields('finalising', names, now) });
  }

  /** Another process has changed the jobs; if it has ended them, it has named them differently. */
  async withdrawEnds(accountId: string, ...names: readonly string[]): Promise<void> {
    await this.#change({ _id: accountId }, { $unset: fields('finalising', names, '') });
  }

  /**
   * Jobs of one account have ended, all at their positions or all while they held slots. Gives back what each job held,
   * and its PDF of the quota if it made none. From now on the stored bytes of a completed job are those of its PDF
   * instead of its input; other jobs keep their input. Their outcomes are counted by the same update.
   *
   * @param next jobs that get some or all of the freed slots in the same update.
   * @returns undefined, without a change, when one of the jobs was handled before, or `next` are not the next jobs any
   * more.
   */
  leave(jobs: readonly Job[], next?: NextInQueue): Promise<SeenLedger | undefined> {
    const [{ accountId, endedFrom }] = jobs as [Job];
    const waited = endedFrom === 'queued';
    const map = waited ? 'finalising' : 'holders';
    const names = waited ? jobs.map(finalisingName) : idsOf(jobs);
    const now = this.#clock.now();
    const moved = next && handing(next, now);
    const granted = next?.jobs.length ?? 0;
    const counted = countedEnds(jobs, now);
    const taken: Record<string, number> = waited
      ? { waiting: -jobs.length }
      : { inFlight: granted - jobs.length };
    return this.#change(
      {
        _id: accountId,
        ...fields(map, names, { $exists: true }),
        ...(next && { inFlight: { $lte: next.cap }, ...noEarlierPositions(next.queue, next.seen) }),
        ...moved?.filter,
      },
      {
        $unset: fields(map, names, ''),
        $inc: { ...taken, ...givenBack(jobs), ...moved?.$inc, ...counted.$inc },
        $set: { ...fields('ending', idsOf(jobs), now.getTime()), ...moved?.$set },
        $min: counted.$min,
      },
      {
        ...NAMED,
        ...fields('quota', [...new Set(jobs.flatMap((job) => job.quotaPeriod ?? []))], 1 as const),
      },
    );
  }

  /** As `leave`, for a job that has ended and holds nothing. @returns whether it was not named as ending before. */
  async leaveUnheld(job: Job): Promise<boolean> {
    const now = this.#clock.now();
    const name = `ending.${job._id}`;
    const change = { ...countedEnds([job], now), $set: { [name]: now.getTime() } };
    return (await this.#change({ _id: job.accountId, [name]: { $exists: false } }, change)) !== undefined;
  }

  /**
   * All steps after the end of these jobs are done. If the record names nothing else, as far as this process has seen it,
   * it is at rest by the same update, and no sweep reads it.
   */
  async forgetEnded(accountId: string, jobIds: readonly string[]): Promise<void> {
    const names = fields('ending', jobIds, '' as const);
    const revision = this.#seen.restsWithout(accountId, jobIds);
    if (revision !== undefined) {
      const rested = await this.#records.findOneAndUpdate(
        { _id: accountId, revision },
        { $unset: { ...names, ...DATED }, $inc: { revision: 1 } },
        SEEN,
      );
      this.#seen.remember(rested);
      if (rested !== undefined) return;
    }
    await this.#change({ _id: accountId }, { $unset: names });
  }

  /** Records that sweeps need not check an account. @returns whether the record was unchanged since it was read. */
  rest({ _id, revision }: LedgerRecord): Promise<boolean> {
    return this.#records.updateOne({ _id, revision }, { $unset: DATED });
  }

  /** Corrects a number that a crash can leave off by one. @returns false when the record has changed since. */
  async setWaiting({ _id, revision }: LedgerRecord, waiting: number): Promise<boolean> {
    return (await this.#change({ _id, revision }, { $set: { waiting } })) !== undefined;
  }

  #changeHeld(
    accountId: string,
    jobId: string,
    update: Change,
    since?: number,
  ): Promise<SeenLedger | undefined> {
    const holder = `holders.${jobId}`;
    const held = since === undefined ? { [holder]: { $exists: true } } : { [`${holder}.since`]: since };
    return this.#change({ _id: accountId, ...held }, { ...update, $unset: { [holder]: '' } });
  }

  async #change(
    filter: Filter,
    update: Change,
    projection: Readonly<Record<string, 1>> = SEEN,
  ): Promise<SeenLedger | undefined> {
    const { $min, $currentDate } = noted(this.#clock.now());
    const change: Change = {
      ...update,
      $currentDate,
      $min: { ...$min, ...update.$min },
      $inc: { revision: 1, ...update.$inc },
      $set: { ...update.$set, active: true },
    };
    const record = await this.#records.findOneAndUpdate(filter, change, projection);
    this.#seen.remember(record, 'ending' in projection);
    return record;
  }
}
