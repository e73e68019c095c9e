import { within } from '../../async/timeout.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { type IdleLane, type LaneDirectory, laneOf, type PoolLanes } from '../lanes.ts';

/** How long what was read of lanes is used, and the longest wait for it; in milliseconds. */
const USED_MS = 1000;
const READ_WAIT_MS = 1000;
/** The most idle lanes that are read: their number in a large pool at rest is of no use. */
const MOST_IDLE = 32;
/** A pool without workers: the first of them takes this lane. */
const FIRST_LANE = 0;

interface Read<T> {
  readonly value: Promise<T>;
  readonly at: number;
}

/**
 * Decides which lane gets a pointer. While the directory does not respond it goes by what it last knew; a lane that has
 * lost its worker meanwhile costs a job the time until the sweep publishes its pointer again.
 */
export class LaneRouter {
  readonly #directory: LaneDirectory;
  readonly #logger: Logger;
  /** As many as pools have been published to. */
  readonly #lanes = new Map<string, Read<PoolLanes>>();
  readonly #idle = new Map<string, Read<IdleLane[]>>();

  constructor(directory: LaneDirectory, logger: Logger) {
    this.#directory = directory;
    this.#logger = logger;
  }

  /** @returns undefined when the workers of the pool know no lanes. */
  async laneOf(pool: string, routingKey: string): Promise<number | undefined> {
    const { lanes, earlier } = await this.#current(this.#lanes, pool, { lanes: [], earlier: false }, () =>
      this.#directory.lanesOf(pool),
    );
    if (earlier) return undefined;
    return lanes.length === 0 ? FIRST_LANE : laneOf(routingKey, lanes);
  }

  /**
   * A lane whose worker has a free slot, of which one fewer is left then.
   *
   * @param own the lane that is not meant.
   */
  async idleLane(pool: string, own: number | undefined): Promise<number | undefined> {
    const idle = await this.#current(this.#idle, pool, [], () =>
      this.#directory.idleLanesOf(pool, MOST_IDLE),
    );
    const others = idle.filter(({ lane, free }) => lane !== own && free > 0);
    const chosen = others[Math.floor(Math.random() * others.length)];
    if (chosen === undefined) return undefined;
    idle[idle.indexOf(chosen)] = { ...chosen, free: chosen.free - 1 };
    return chosen.lane;
  }

  /** Reads anew what is known of a pool: it has just changed. */
  forget(pool: string): void {
    this.#lanes.delete(pool);
  }

  #current<T>(known: Map<string, Read<T>>, pool: string, unknown: T, read: () => Promise<T>): Promise<T> {
    const last = known.get(pool);
    if (last !== undefined && performance.now() - last.at < USED_MS) return last.value;
    const value = within(READ_WAIT_MS, 'reading lanes', read()).catch((error: unknown) => {
      this.#logger.debug({ err: error, pool }, 'the lanes of a pool could not be read');
      return last?.value ?? unknown;
    });
    known.set(pool, { value, at: performance.now() });
    return value;
  }
}
