import type { Connection } from 'mongoose';
import type { Clock } from '../../clock.ts';
import { Collection, type CollectionSpec } from '../../store/collection.ts';

/*
 * The states of a worker, as it reports them itself:
 *
 *   starting ──▶ claiming ◀──▶ paused
 *                    │            │
 *                    └─▶ ending ◀─┘   on SIGTERM, and for good
 *
 * claiming  takes work as it has slots for it
 * paused    was asked to (`pauseRequested`): takes nothing more, finishes what it has, and stays ready. Or it has had
 *           no browser for a while: then it has given back what it had, and is not ready
 * ending    takes nothing more, finishes or gives back what it has, and goes
 */
export type WorkerState = 'starting' | 'claiming' | 'paused' | 'ending';

/** Whether Chromium's own sandbox holds the worker's renderers: as the worker found, not as it was configured. */
export type SandboxState = 'on' | 'off' | 'unknown';

/** What a worker reports of itself. */
export interface WorkerReport {
  /** Its name in leases: `owner` of the jobs that it holds. Never used twice. */
  readonly _id: string;
  readonly pool: string;
  /** Where it runs; null outside Kubernetes. */
  readonly pod: string | null;
  readonly namespace: string | null;
  readonly node: string | null;
  /** Renders at a time. */
  readonly slots: number;
  /** Jobs that it holds. Of a paused worker 0 means: it is empty, and stays so. */
  readonly busy: number;
  readonly state: WorkerState;
  readonly startedAt: Date;
  readonly sandbox: SandboxState;
  /** The browser's name and version, as it reports them; null until one has run. */
  readonly browser: string | null;
}

export interface WorkerRecord extends WorkerReport {
  /** It is asked to claim nothing more. */
  readonly pauseRequested: boolean;
  /** When it last reported. */
  readonly seenAt: Date;
}

/** A worker that has not reported for this long is no longer seen: three reports are missing. Milliseconds. */
export const UNSEEN_AFTER_MS = 10_000;

const WORKERS: CollectionSpec = {
  name: 'workers',
  indexes: [{ fields: { pool: 1 } }, { fields: { seenAt: 1 } }],
  scans: { '{}': 'there are as many as workers run, and whoever asks wants to know of all' },
};

/** The workers that run, and which of them are to stop taking work. Each worker keeps its own record. */
export class WorkerRegistry {
  readonly #records: Collection<WorkerRecord>;
  readonly #clock: Clock;

  /** To be made before the connection's indexes are. */
  constructor(connection: Connection, clock: Clock) {
    this.#records = new Collection<WorkerRecord>(connection, WORKERS);
    this.#clock = clock;
  }

  /** Writes what a worker reports of itself. @returns the record with what is asked of it. */
  report({ _id, ...reported }: WorkerReport): Promise<WorkerRecord> {
    return this.#records.upsert(_id, {
      $set: { ...reported, seenAt: this.#clock.now() },
      $setOnInsert: { pauseRequested: false },
    });
  }

  /** The workers of one pool or of all; also those that have not been seen for a while, see `isSeen`. */
  list(pool?: string): Promise<WorkerRecord[]> {
    return this.#records.find(pool === undefined ? {} : { pool });
  }

  /** Renders at a time in a worker of a pool; undefined when it has none. */
  async slotsOf(pool: string): Promise<number | undefined> {
    return (await this.#records.findOne({ pool }, { projection: { slots: 1 } }))?.slots;
  }

  /** Whether a worker has reported lately. */
  isSeen({ seenAt }: Pick<WorkerRecord, 'seenAt'>): boolean {
    return this.#clock.now().getTime() - seenAt.getTime() < UNSEEN_AFTER_MS;
  }

  /** Asks these workers to claim nothing more. They do within three seconds, and report it as their state. */
  async requestPause(ids: readonly string[]): Promise<void> {
    await this.#setPause(ids, true);
  }

  /** These workers may claim again. */
  async cancelPause(ids: readonly string[]): Promise<void> {
    await this.#setPause(ids, false);
  }

  /** A worker has ended. */
  async remove(id: string): Promise<void> {
    await this.#records.deleteOne({ _id: id });
  }

  /** Deletes the records of workers that have not reported since then. @returns how many there were. */
  forgetUnseen(since: Date): Promise<number> {
    return this.#records.deleteMany({ seenAt: { $lt: since } });
  }

  async #setPause(ids: readonly string[], pauseRequested: boolean): Promise<void> {
    if (ids.length > 0) await this.#records.updateMany({ _id: { $in: ids } }, { $set: { pauseRequested } });
  }
}
