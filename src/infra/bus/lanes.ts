/**
 * Lanes: each worker of a pool has a lane of its own, which it alone reads. Whoever publishes a pointer decides by the
 * lanes that have workers which of them gets it.
 */

/** The lane of one worker, until it is lost or given back. */
export interface LaneLease {
  /** Counted from 0; the lowest that was free. */
  readonly lane: number;
  /** Says whether the lane is being read at present: others are preferred to one that is not. Never rejects. */
  reads(reading: boolean): Promise<void>;
  /** Gives the lane back. Resolves when publishers know, or can be expected to. Never rejects. */
  release(): Promise<void>;
}

/** The lanes of a pool, as far as they have workers. */
export interface PoolLanes {
  /** The lanes that are read; when none is, all that have a worker. */
  readonly lanes: readonly number[];
  /** Whether the pool has workers of a version that knew no lanes, and no others. */
  readonly earlier: boolean;
}

/** A lane whose worker has free slots. */
export interface IdleLane {
  readonly lane: number;
  readonly free: number;
}

/** Which worker has which lane. All methods may take as long as the database, and reject when it does not respond. */
export interface LaneDirectory {
  /** Takes a lane. @param onLost called once if the worker no longer has it, because it was silent for too long. */
  take(pool: string, worker: string, onLost: () => void): Promise<LaneLease>;
  lanesOf(pool: string): Promise<PoolLanes>;
  /** Some of the lanes whose workers have free slots. @param most the largest number returned. */
  idleLanesOf(pool: string, most: number): Promise<IdleLane[]>;
}

/**
 * The lane of a key by rendezvous hashing (Thaler and Ravishankar, 1998): every lane gets a weight for the key, and the
 * greatest wins. So a further lane takes its share from all others, and no key moves between those.
 *
 * @param lanes at least one.
 */
export function laneOf(key: string, lanes: readonly number[]): number {
  const hash = hashOf(key);
  let best = lanes[0]!;
  let greatest = -1;
  for (const lane of lanes) {
    const weight = mixed(hash ^ Math.imul(lane + 1, 0x9e3779b1));
    if (weight > greatest || (weight === greatest && lane < best)) {
      greatest = weight;
      best = lane;
    }
  }
  return best;
}

/** FNV-1a of 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return mixed(hash);
}

/** The finalizer of MurmurHash3: each bit of the input changes half of those of the result. */
function mixed(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
