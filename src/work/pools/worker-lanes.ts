import { setTimeout as sleep } from 'node:timers/promises';
import type { IdleLane, LaneDirectory, LaneLease, PoolLanes } from '../../infra/bus/lanes.ts';
import type { Collection } from '../../infra/store/collection.ts';
import { isDuplicateKey } from '../../infra/store/duplicate-key.ts';

/** How long publishers may go by what they have read of lanes, and when all can be expected to know; milliseconds. */
export const LANES_READ_EVERY_MS = 1000;
const KNOWN_TO_ALL_MS = LANES_READ_EVERY_MS + 200;
/** Attempts to take a lane that another worker takes at the same moment: enough for hundreds that start together. */
const TRIES = 20;

/** What a worker's record says of its lane. */
export interface LaneFields {
  /** Free slots for which it claims jobs; absent in records of earlier versions, which knew no lanes. */
  readonly idle?: number;
  /** Pool and number of the lane that it holds, and whether it reads that at present. */
  readonly lane?: string;
  readonly reads?: boolean;
}

interface Holder extends LaneFields {
  readonly _id: string;
  readonly state: string;
  readonly seenAt: Date;
}

/** A worker's record, as far as it is read here. */
export interface LaneRecord extends Holder {
  readonly pool: string;
}

const HOLDER = { seenAt: 1, state: 1, lane: 1, reads: 1, idle: 1 } as const;

interface Held {
  readonly worker: string;
  /** As in the record. */
  readonly lane: string;
  readonly onLost: () => void;
  reading: boolean;
}

/**
 * The lanes of workers, as their records in the registry name them: a lane is leased by the reports that a worker writes
 * anyway, and free when its holder has not been seen for a while. A unique index gives each lane to one worker. Should
 * two read one lane for a moment, the claim of a job decides.
 */
export class WorkerLanes implements LaneDirectory {
  readonly #records: Collection<LaneRecord>;
  readonly #isSeen: (worker: Pick<LaneRecord, '_id' | 'seenAt'>) => boolean;
  /** The lane of the worker in this process. */
  #held: Held | undefined;

  constructor(
    records: Collection<LaneRecord>,
    isSeen: (worker: Pick<LaneRecord, '_id' | 'seenAt'>) => boolean,
  ) {
    this.#records = records;
    this.#isSeen = isSeen;
  }

  /** @throws also when the worker is not in the registry. */
  async take(pool: string, worker: string, onLost: () => void): Promise<LaneLease> {
    for (let tries = 1; ; tries += 1) {
      const number = await this.#free(pool, worker, tries);
      const lane = `${pool}:${number}`;
      try {
        const taken = await this.#records.updateOne({ _id: worker }, { $set: { lane, reads: false } });
        if (!taken) throw new Error('the worker has not reported itself');
        const held = { worker, lane, onLost, reading: false };
        this.#held = held;
        return {
          lane: number,
          reads: (reading) => this.#note(held, reading),
          release: () => this.#release(held),
        };
      } catch (error) {
        if (!isDuplicateKey(error) || tries === TRIES) throw error;
      }
    }
  }

  async lanesOf(pool: string): Promise<PoolLanes> {
    const seen = (await this.#holders(pool)).filter((holder) => this.#isSeen(holder));
    const taken = seen.filter(({ lane }) => lane !== undefined);
    const read = taken.filter(({ reads }) => reads);
    return {
      lanes: (read.length > 0 ? read : taken).map(numberOf),
      earlier: seen.length > 0 && seen.every(({ idle, state }) => idle === undefined && state === 'claiming'),
    };
  }

  async idleLanesOf(pool: string, most: number): Promise<IdleLane[]> {
    const found = await this.#records.find({ pool, idle: { $gt: 0 } }, { projection: HOLDER, limit: most });
    return found
      .filter((holder) => holder.lane !== undefined && holder.reads && this.#isSeen(holder))
      .map((holder) => ({ lane: numberOf(holder), free: holder.idle! }));
  }

  /** What a worker's report says of its lane, and how the record that the report returns is compared with it. */
  reporting(worker: string): {
    readonly fields: Pick<LaneFields, 'reads'>;
    check(record: Pick<LaneFields, 'lane'>): void;
  } {
    const held = this.#held?.worker === worker ? this.#held : undefined;
    return {
      fields: held === undefined ? {} : { reads: held.reading },
      check: ({ lane }) => {
        // The lane may have been given back, or taken, since the report was sent.
        if (held === undefined || held !== this.#held || held.lane === lane) return;
        this.#held = undefined;
        held.onLost();
      },
    };
  }

  /** One of the lowest free lanes: of the more, the more often another worker was quicker. */
  async #free(pool: string, worker: string, tries: number): Promise<number> {
    const holders = new Map<number, Holder>();
    for (const holder of await this.#holders(pool))
      if (holder.lane !== undefined) holders.set(numberOf(holder), holder);
    let skip = tries === 1 ? 0 : Math.floor(Math.random() * 2 ** Math.min(tries, 10));
    for (let lane = 0; ; lane += 1) {
      const holder = holders.get(lane);
      if (holder !== undefined && holder._id !== worker && this.#isSeen(holder)) continue;
      if (skip-- > 0) continue;
      if (holder !== undefined && holder._id !== worker) await this.#evict(holder);
      return lane;
    }
  }

  /** Takes the lane of a worker that has been silent, unless it has just reported. */
  async #evict({ _id, seenAt }: Holder): Promise<void> {
    await this.#records.updateOne({ _id, seenAt }, { $unset: { lane: '', reads: '' }, $set: { idle: 0 } });
  }

  async #note(held: Held, reading: boolean): Promise<void> {
    if (held.reading === reading) return;
    held.reading = reading;
    const { worker, lane } = held;
    // Otherwise the next report says so.
    await this.#records.updateOne({ _id: worker, lane }, { $set: { reads: reading } }).catch(() => {});
  }

  async #release(held: Held): Promise<void> {
    if (this.#held === held) this.#held = undefined;
    const { worker, lane } = held;
    try {
      const given = { $unset: { lane: '', reads: '' } } as const;
      if (await this.#records.updateOne({ _id: worker, lane }, given)) await sleep(KNOWN_TO_ALL_MS);
    } catch {
      // The lane is free when the worker has not been seen for a while.
    }
  }

  #holders(pool: string): Promise<Holder[]> {
    return this.#records.find({ pool }, { projection: HOLDER });
  }
}

function numberOf({ lane }: Pick<LaneFields, 'lane'>): number {
  return Number(lane!.slice(lane!.lastIndexOf(':') + 1));
}
