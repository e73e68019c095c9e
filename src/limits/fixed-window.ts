import type { Connection, mongo } from 'mongoose';
import type { Clock } from '../clock.ts';
import { Collection, type CollectionSpec } from '../store/collection.ts';

/** The window of a key that is open now. */
export interface OpenWindow {
  /** `<key>:<number of the window>`: what is counted under it begins anew in every window. */
  readonly id: string;
  readonly endsAt: Date;
  /** Milliseconds until it ends, at least 1. */
  readonly leftMs: number;
}

/**
 * Fixed windows of time to count in: each is as long as the others, and begins when the one before it ends. Whoever counts
 * for this process alone keeps its counts by the windows' ids; `WindowCounter` counts for all processes.
 */
export class FixedWindow {
  readonly #lengthMs: number;
  readonly #clock: Clock;

  constructor(lengthMs: number, clock: Clock) {
    this.#lengthMs = lengthMs;
    this.#clock = clock;
  }

  /** @param shiftMs how much later than other keys' the windows of this key begin, in milliseconds. */
  of(key: string, shiftMs = 0): OpenWindow {
    const now = this.#clock.now().getTime();
    const number = Math.floor((now - shiftMs) / this.#lengthMs);
    const end = (number + 1) * this.#lengthMs + shiftMs;
    return { id: `${key}:${number}`, endsAt: new Date(end), leftMs: end - now };
  }
}

/** What is counted in windows, and where the counts are kept. */
export interface CountedWindows {
  /** Has an index on the field for the end. */
  readonly spec: CollectionSpec;
  readonly fields: {
    readonly count: string;
    /** When the window ends, and its record is of no more use. */
    readonly end: string;
  };
  readonly lengthMs: number;
  /** Other than the connection's, for counts whose last moments may be lost with the server. */
  readonly writeConcern?: mongo.WriteConcernSettings;
}

/** By the id of the window: found by an exact unique key, and new in each window by itself. */
type Count = { readonly _id: string } & Readonly<Record<string, string | number | Date>>;

/** Counts in fixed windows, one count for all processes: adding to it is one update of one record by its exact id. */
export class WindowCounter {
  readonly #counts: Collection<Count>;
  readonly #window: FixedWindow;
  readonly #counted: CountedWindows;

  /** To be made before the connection's indexes are. */
  constructor(connection: Connection, clock: Clock, counted: CountedWindows) {
    this.#counts = new Collection<Count>(connection, counted.spec);
    this.#window = new FixedWindow(counted.lengthMs, clock);
    this.#counted = counted;
  }

  /** The window of a key that is open now; `shiftMs` as of `FixedWindow.of`. */
  window(key: string, shiftMs?: number): OpenWindow {
    return this.#window.of(key, shiftMs);
  }

  /** Adds to the count of a window. @returns what it is then. */
  async add({ id, endsAt }: OpenWindow, amount: number): Promise<number> {
    const { fields, writeConcern } = this.#counted;
    const change = { $inc: { [fields.count]: amount }, $setOnInsert: { [fields.end]: endsAt } };
    const counted = await this.#counts.upsert(id, change, writeConcern && { writeConcern });
    return Number(counted[fields.count]);
  }

  /** Deletes the counts of windows that have ended. @returns how many there were. */
  deleteEnded(now: Date): Promise<number> {
    return this.#counts.deleteMany({ [this.#counted.fields.end]: { $lte: now } });
  }
}
