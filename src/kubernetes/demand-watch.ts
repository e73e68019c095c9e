import type { Clock } from '../clock.ts';
import { type DemandReading, demandOf } from '../jobs/demand.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { PoolReading } from './scaling/types.ts';

export interface DemandWatchOptions {
  readonly read: () => Promise<DemandReading>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'warn' | 'info'>;
  /** Told of every new snapshot, with the names of the pools whose load or workers have changed. */
  readonly onSnapshot: (changed: ReadonlySet<string>) => void;
  readonly everyMs?: number;
}

const READ_EVERY_MS = 1000;

/** Reads the demand again and again, and keeps the last whole snapshot. One that cannot be read grows old. */
export class DemandWatch {
  readonly #options: DemandWatchOptions;
  #latest: DemandReading | undefined;
  #seen: ReadonlyMap<string, string> = new Map();
  #timer: NodeJS.Timeout | undefined;
  #reading: Promise<void> | undefined;
  #stopped = false;
  #failing = false;

  constructor(options: DemandWatchOptions) {
    this.#options = options;
  }

  get latest(): DemandReading | undefined {
    return this.#latest;
  }

  /** Seconds since the last snapshot was begun; infinite before the first. */
  get ageSeconds(): number {
    const { clock } = this.#options;
    return this.#latest === undefined
      ? Number.POSITIVE_INFINITY
      : (clock.now().getTime() - this.#latest.at) / 1000;
  }

  /** What the autoscaler is told of a pool. */
  readingOf(pool: string): PoolReading | undefined {
    return this.#latest && demandOf(this.#latest, pool);
  }

  start(): void {
    this.#schedule(0);
  }

  /** Resolves when nothing is being read any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#reading;
  }

  #schedule(delayMs: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#reading = this.#read().finally(() => this.#schedule(this.#options.everyMs ?? READ_EVERY_MS));
    }, delayMs);
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

/** By pool, all of a reading that a decision may follow from. */
function fingerprints({ byPool }: DemandReading): ReadonlyMap<string, string> {
  return new Map([...byPool].map(([pool, { at: _at, ...rest }]) => [pool, JSON.stringify(rest)]));
}
