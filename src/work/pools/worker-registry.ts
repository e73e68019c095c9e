import type { Connection } from 'mongoose';
import type { Timers } from '../../infra/async/timers.ts';
import type { Clock } from '../../infra/clock.ts';
import { Collection, type CollectionSpec, LOSABLE } from '../../infra/store/collection.ts';
import { CLOCK_SKEW_MS, FutureTimes } from '../../infra/store/future-times.ts';
import type { AssignedKey } from '../../render/seal/assigned-keys.ts';
import { type LaneFields, type LaneRecord, WorkerLanes } from './worker-lanes.ts';

/*
 * The states of a worker, as it reports them itself:
 *
 *   starting ──▶ claiming ◀──▶ paused
 *                    │            │
 *                    └─▶ ending ◀─┘   on SIGTERM, and for good
 *
 * claiming  The worker claims jobs while it has free slots.
 * paused    Either a pause was requested (`pauseRequested`): the worker claims nothing more, finishes its jobs, and
 *           stays ready. Or it has had no browser for a while: it has given back its jobs, and is not ready.
 * ending    The worker claims nothing more, finishes or gives back its jobs, and exits.
 */
export type WorkerState = 'starting' | 'claiming' | 'paused' | 'ending';

/** Whether the worker's renderers are in Chromium's own sandbox, as the worker found, not as configured. */
export type SandboxState = 'on' | 'off' | 'unknown';

/** The report of a worker about itself. */
export interface WorkerReport {
  /** Its name in leases: `owner` of the jobs that it holds. Never used twice. */
  readonly _id: string;
  readonly pool: string;
  /** The pod it runs in; null outside Kubernetes. */
  readonly pod: string | null;
  readonly namespace: string | null;
  readonly node: string | null;
  readonly slots: number;
  /** Jobs that it holds. A paused worker with 0 jobs stays empty. */
  readonly busy: number;
  readonly state: WorkerState;
  readonly startedAt: Date;
  readonly sandbox: SandboxState;
  /** The browser's name and version, as it reports them; null until one has run. */
  readonly browser: string | null;
  /**
   * The keys that seal PDFs there; only `sealKeysOf` reads them. Null: they cannot be told; absent in reports of earlier
   * versions.
   */
  readonly sealKeys?: readonly AssignedKey[] | null;
}

export interface WorkerRecord extends WorkerReport, LaneFields {
  /** Whether the worker is requested to claim nothing more. */
  readonly pauseRequested: boolean;
  /** Whether an operator has requested the same. Absent otherwise; no controller takes it back. */
  readonly drainRequested?: true;
  /** When it last reported. */
  readonly seenAt: Date;
}

/** A worker that has not reported for this long, three reports, no longer counts as seen. Milliseconds. */
export const UNSEEN_AFTER_MS = 10_000;

const WORKERS: CollectionSpec = {
  name: 'workers',
  account: { none: 'the workers of the installation' },
  large: ['sealKeys'],
  indexes: [
    { fields: { pool: 1, idle: 1 } },
    { fields: { seenAt: 1 } },
    { fields: { lane: 1 }, unique: true, sparse: true },
  ],
  scans: { '{}': 'there are as many as workers run, and whoever asks wants to know of all' },
};

/** The running workers, and which of them are requested to stop claiming. Each worker updates its own record. */
export class WorkerRegistry {
  readonly lanes: WorkerLanes;
  readonly #records: Collection<WorkerRecord>;
  readonly #clock: Clock;
  readonly #times: FutureTimes;

  /** To be created before the connection's indexes are. */
  constructor(connection: Connection, clock: Clock, timers?: Timers) {
    this.#records = new Collection<WorkerRecord>(connection, WORKERS);
    this.#clock = clock;
    this.#times = new FutureTimes(clock, { timers, logger: this.#records.logger });
    const records = new Collection<LaneRecord>(connection, WORKERS);
    this.lanes = new WorkerLanes(records, (worker) => this.isSeen(worker));
  }

  /** Writes the report of a worker. @returns its record, which contains the requests to it. */
  async report({ _id, ...reported }: WorkerReport): Promise<WorkerRecord> {
    const { state, slots, busy } = reported;
    const idle = state === 'claiming' ? Math.max(0, slots - busy) : 0;
    const lane = this.lanes.reporting(_id);
    const set = { ...reported, idle, ...lane.fields, seenAt: this.#clock.now() };
    const record = await this.#records.upsert(
      _id,
      { $set: set, $setOnInsert: { pauseRequested: false } },
      // A report that a failover loses is followed by another within three seconds.
      { writeConcern: LOSABLE },
    );
    lane.check(record);
    return record;
  }

  /** The workers of one pool or of all pools, including those that have not been seen for a while (see `isSeen`). */
  list(pool?: string): Promise<WorkerRecord[]> {
    return this.#records.find(pool === undefined ? {} : { pool });
  }

  /** Renders that a worker of a pool runs at a time; undefined when the pool has no worker. */
  async slotsOf(pool: string): Promise<number | undefined> {
    return (await this.#records.findOne({ pool }, { projection: { slots: 1 } }))?.slots;
  }

  /** The keys with which workers of a pool seal PDFs. @returns undefined where no worker, or not every one, tells. */
  async sealKeysOf(pool: string): Promise<AssignedKey[] | undefined> {
    const projection = { sealKeys: 1, seenAt: 1 } as const;
    const records = await this.#records.find({ pool }, { projection });
    const told = records.filter((worker) => this.isSeen(worker)).map(({ sealKeys }) => sealKeys);
    if (told.length === 0 || told.some((keys) => keys == null)) return undefined;
    return told.flatMap((keys) => [...keys!]);
  }

  isSeen({ _id, seenAt }: Pick<WorkerRecord, '_id' | 'seenAt'>): boolean {
    return this.#times.ageMs(_id, seenAt) < UNSEEN_AFTER_MS;
  }

  /** Requests the workers to claim nothing more. They comply within three seconds, and report that as their state. */
  async requestPause(ids: readonly string[]): Promise<void> {
    await this.#setPause(ids, true);
  }

  /** Allows the workers to claim again. */
  async cancelPause(ids: readonly string[]): Promise<void> {
    await this.#setPause(ids, false);
  }

  /** It claims nothing until `drain` is false, whatever its pool's controller asks. @returns false if unknown. */
  requestDrain(id: string, drain: boolean): Promise<boolean> {
    const change = drain
      ? { $set: { drainRequested: true } as const }
      : { $unset: { drainRequested: '' } as const };
    return this.#records.updateOne({ _id: id }, change);
  }

  /** Removes a worker that has ended. */
  async remove(id: string): Promise<void> {
    await this.#records.deleteOne({ _id: id });
  }

  /** Deletes the records of workers that have not reported since `since`. @returns the number of deleted records. */
  async forgetUnseen(since: Date): Promise<number> {
    const forgotten = await this.#records.deleteMany({ seenAt: { $lt: since } });
    const future = new Date(this.#clock.now().getTime() + CLOCK_SKEW_MS);
    const ahead = await this.#records.find({ seenAt: { $gt: future } });
    // As it was read: a worker whose clock is ahead reports again.
    const gone = ahead.filter((worker) => !this.isSeen(worker));
    const deleted = await Promise.all(
      gone.map(({ _id, seenAt }) => this.#records.deleteOne({ _id, seenAt })),
    );
    return forgotten + deleted.filter((done) => done).length;
  }

  async #setPause(ids: readonly string[], pauseRequested: boolean): Promise<void> {
    if (ids.length > 0) await this.#records.updateMany({ _id: { $in: ids } }, { $set: { pauseRequested } });
  }
}
