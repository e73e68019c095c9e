import type { IdleLane, LaneDirectory, LaneLease, PoolLanes } from '../../src/infra/bus/lanes.ts';

interface Holder {
  readonly worker: string;
  readonly onLost: () => void;
  reads: boolean;
}

/** The lanes of an installation without a database: all buses of this process that are given it share it. */
export class MemoryLanes implements LaneDirectory {
  /** Free slots of each worker. */
  free = 1;
  /** Thrown by all methods while it is set: the database is away. */
  problem: Error | undefined;
  readonly #pools = new Map<string, Map<number, Holder>>();

  async take(pool: string, worker: string, onLost: () => void): Promise<LaneLease> {
    const holders = this.#holders(pool);
    let lane = 0;
    while (holders.has(lane)) lane += 1;
    const holder = { worker, onLost, reads: false };
    holders.set(lane, holder);
    return {
      lane,
      reads: async (reading) => {
        holder.reads = reading;
      },
      release: async () => {
        if (holders.get(lane) === holder) holders.delete(lane);
      },
    };
  }

  async lanesOf(pool: string): Promise<PoolLanes> {
    const taken = [...this.#holders(pool)];
    const read = taken.filter(([, { reads }]) => reads);
    return { lanes: (read.length > 0 ? read : taken).map(([lane]) => lane), earlier: false };
  }

  async idleLanesOf(pool: string, most: number): Promise<IdleLane[]> {
    const read = [...this.#holders(pool)].filter(([, { reads }]) => reads);
    return read.slice(0, most).map(([lane]) => ({ lane, free: this.free }));
  }

  /** Which worker has each lane. */
  workersOf(pool: string): Map<number, string> {
    return new Map([...this.#holders(pool)].map(([lane, { worker }]) => [lane, worker]));
  }

  /** Takes a lane from its worker, as when that has been silent for too long. */
  takeAway(pool: string, lane: number): void {
    const holder = this.#holders(pool).get(lane);
    this.#holders(pool).delete(lane);
    holder?.onLost();
  }

  #holders(pool: string): Map<number, Holder> {
    if (this.problem !== undefined) throw this.problem;
    const known = this.#pools.get(pool);
    if (known !== undefined) return known;
    const holders = new Map<number, Holder>();
    this.#pools.set(pool, holders);
    return holders;
  }
}

const shared = new Map<string, MemoryLanes>();

/** Those of the installation with this prefix. */
export function lanesAt(prefix: string): MemoryLanes {
  const lanes = shared.get(prefix) ?? new MemoryLanes();
  shared.set(prefix, lanes);
  return lanes;
}
