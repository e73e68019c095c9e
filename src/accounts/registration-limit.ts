import type { Connection } from 'mongoose';
import type { Clock } from '../clock.ts';
import { PlatenError } from '../errors/registry.ts';
import { FixedWindow } from '../limits/fixed-window.ts';
import { networkOf } from '../limits/network-of.ts';
import { Collection, type CollectionSpec } from '../store/collection.ts';

/** What one network has asked for in one window of time. */
interface RegistrationCount {
  /** `<network>:<number of the window>` */
  readonly _id: string;
  readonly registrations: number;
  readonly expiresAt: Date;
}

const WINDOW_MS = 3_600_000;
const REGISTRATIONS: CollectionSpec = { name: 'registrations', indexes: [{ fields: { expiresAt: 1 } }] };

/** Counts how many accounts a network asks for, for every process alike, whether they are made or not. */
export class RegistrationLimit {
  readonly #counts: Collection<RegistrationCount>;
  readonly #window: FixedWindow;
  readonly #bound: number;

  /** @param bound those that one network may ask for in an hour. */
  constructor(connection: Connection, clock: Clock, bound: number) {
    this.#counts = new Collection(connection, REGISTRATIONS);
    this.#window = new FixedWindow(WINDOW_MS, clock);
    this.#bound = bound;
  }

  /**
   * Counts one.
   *
   * @param address the client's; undefined when the connection is gone already.
   * @throws PlatenError TOO_MANY_REGISTRATIONS with the time until the next is let in.
   */
  async count(address: string | undefined): Promise<void> {
    const { id, endsAt, leftMs } = this.#window.of(networkOf(address));
    const change = { $inc: { registrations: 1 }, $setOnInsert: { expiresAt: endsAt } };
    const { registrations } = await this.#counts.upsert(id, change);
    if (registrations > this.#bound) {
      throw new PlatenError('TOO_MANY_REGISTRATIONS', undefined, { retryAfterSeconds: leftMs / 1000 });
    }
  }

  /** @returns how many counts there were. */
  deleteExpired(now: Date): Promise<number> {
    return this.#counts.deleteMany({ expiresAt: { $lte: now } });
  }
}
