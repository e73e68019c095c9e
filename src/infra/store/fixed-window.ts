import type { Connection, mongo } from 'mongoose';
import type { Clock } from '../clock.ts';
import { type ErrorCode, PlatenError } from '../errors/registry.ts';
import { Collection, type CollectionSpec } from './collection.ts';

/** The present window of a key. */
export interface OpenWindow {
  /** `<key>:<number of the window>`, so that counting begins anew in each window. */
  readonly id: string;
  readonly endsAt: Date;
  /** Milliseconds until the window ends, at least 1. */
  readonly leftMs: number;
}

/** Time windows of equal length. A counter of one process counts by their ids, `WindowCounter` over all processes. */
export class FixedWindow {
  readonly #lengthMs: number;
  readonly #clock: Clock;

  constructor(lengthMs: number, clock: Clock) {
    this.#lengthMs = lengthMs;
    this.#clock = clock;
  }

  /** @param shiftMs by how many milliseconds the windows of this key begin later than multiples of the length. */
  of(key: string, shiftMs = 0): OpenWindow {
    const now = this.#clock.now().getTime();
    const number = Math.floor((now - shiftMs) / this.#lengthMs);
    const end = (number + 1) * this.#lengthMs + shiftMs;
    return { id: `${key}:${number}`, endsAt: new Date(end), leftMs: end - now };
  }
}

/** Where the counts of a `WindowCounter` are stored, and the length of its windows. */
export interface CountedWindows {
  readonly spec: CollectionSpec;
  readonly fields: {
    readonly count: string;
    /** When the window ends; its record can be deleted then. */
    readonly end: string;
  };
  readonly lengthMs: number;
  /** For counts whose last updates may be lost with the server. Default: the connection's. */
  readonly writeConcern?: mongo.WriteConcernSettings;
}

/** One record for each window, found by its exact id. */
type Count = { readonly _id: string } & Readonly<Record<string, string | number | Date>>;

/** Counts in fixed windows, over all processes: each addition is one update of one record by its exact id. */
export class WindowCounter {
  readonly #counts: Collection<Count>;
  readonly #window: FixedWindow;
  readonly #counted: CountedWindows;

  /** To be created before the connection's indexes. */
  constructor(connection: Connection, clock: Clock, counted: CountedWindows) {
    this.#counts = new Collection<Count>(connection, counted.spec);
    this.#window = new FixedWindow(counted.lengthMs, clock);
    this.#counted = counted;
  }

  /** The present window of a key; `shiftMs` as in `FixedWindow.of`. */
  window(key: string, shiftMs?: number): OpenWindow {
    return this.#window.of(key, shiftMs);
  }

  /** Adds to the count of a window. @returns the new count. */
  async add({ id, endsAt }: OpenWindow, amount: number): Promise<number> {
    const { fields, writeConcern } = this.#counted;
    const change = { $inc: { [fields.count]: amount }, $setOnInsert: { [fields.end]: endsAt } };
    const counted = await this.#counts.upsert(id, change, writeConcern && { writeConcern });
    return Number(counted[fields.count]);
  }

  /** Counts one in the present window. @throws PlatenError `code` with the time to its end, beyond `bound`. */
  async countWithin(key: string, bound: number, code: ErrorCode): Promise<OpenWindow> {
    const window = this.window(key);
    if ((await this.add(window, 1)) > bound)
      throw new PlatenError(code, undefined, { retryAfterSeconds: window.leftMs / 1000 });
    return window;
  }

  /** Deletes the counts of windows that have ended. @returns the number of deleted counts. */
  deleteExpired(now: Date): Promise<number> {
    return this.#counts.deleteMany({ [this.#counted.fields.end]: { $lte: now } });
  }
}
