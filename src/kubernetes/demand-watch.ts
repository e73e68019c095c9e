import { ordinary, Sweeper } from '../infra/async/sweeper.ts';
import type { Clock } from '../infra/clock.ts';
import type { Logger } from '../infra/telemetry/logger.ts';
import { type DemandSample, demandOf } from '../work/jobs/demand.ts';
import type { PoolSample } from './scaling/types.ts';

interface DemandWatchOptions {
  readonly read: () => Promise<DemandSample>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called with every new snapshot: with the names of the pools whose load or workers have changed. */
  readonly onSnapshot: (changed: ReadonlySet<string>) => void;
}

const READ_EVERY_MS = 1000;

/** Reads the demand repeatedly, and keeps the last complete snapshot: while the demand cannot be read, it ages. */
export class DemandWatch {
  readonly #options: DemandWatchOptions;
  readonly #sweeper: Sweeper;
  #latest: DemandSample | undefined;
  #seen: ReadonlyMap<string, string> = new Map();
  #failing = false;

  constructor(options: DemandWatchOptions) {
    this.#options = options;
    this.#sweeper = new Sweeper(options.logger);
  }

  get latest(): DemandSample | undefined {
    return this.#latest;
  }

  /** Seconds since the last snapshot was begun; infinite before the first. */
  get ageSeconds(): number {
    const { clock } = this.#options;
    return this.#latest === undefined
      ? Number.POSITIVE_INFINITY
      : (clock.now().getTime() - this.#latest.at) / 1000;
  }

  /** A pool's sample for the autoscaler. */
  sampleOf(pool: string): PoolSample | undefined {
    return this.#latest && demandOf(this.#latest, pool);
  }

  start(): void {
    this.#sweeper.start([ordinary('demand', READ_EVERY_MS, () => this.#read())]);
  }

  /** Resolves when no read is under way any more. */
  stop(): Promise<void> {
    return this.#sweeper.stop();
  }

  async #read(): Promise<void> {
    const { read, logger, onSnapshot } = this.#options;
    try {
      this.#latest = await read();
      if (this.#failing) logger.info('the demand can be read again');
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) logger.warn({ err: error }, 'the demand cannot be read; pools keep their size');
      this.#failing = true;
      return;
    }
    const seen = fingerprints(this.#latest);
    const names = new Set([...seen.keys(), ...this.#seen.keys()]);
    const changed = new Set([...names].filter((name) => seen.get(name) !== this.#seen.get(name)));
    this.#seen = seen;
    onSnapshot(changed);
  }
}

/** By pool, everything in a sample that can change a decision. */
function fingerprints({ byPool }: DemandSample): ReadonlyMap<string, string> {
  return new Map([...byPool].map(([pool, { at: _at, ...rest }]) => [pool, JSON.stringify(rest)]));
}
