import type { Connection } from 'mongoose';
import type { Clock } from '../clock.ts';
import { PlatenError } from '../errors/registry.ts';
import { type CountedWindows, WindowCounter } from '../limits/fixed-window.ts';
import { countedNetworks } from '../limits/network-of.ts';

/** What one network has asked for. */
const REGISTRATIONS: CountedWindows = {
  spec: { name: 'registrations', indexes: [{ fields: { expiresAt: 1 } }] },
  fields: { count: 'registrations', end: 'expiresAt' },
  lengthMs: 3_600_000,
};

/** Counts how many accounts a network asks for, for every process alike, whether they are made or not. */
export class RegistrationLimit {
  readonly #registrations: WindowCounter;
  readonly #bound: number;

  /** @param bound those that one network may ask for in an hour; the networks of an IPv6 /48 together ten times as many. */
  constructor(connection: Connection, clock: Clock, bound: number) {
    this.#registrations = new WindowCounter(connection, clock, REGISTRATIONS);
    this.#bound = bound;
  }

  /**
   * Counts one.
   *
   * @param address the client's; undefined when the connection is gone already.
   * @throws PlatenError TOO_MANY_REGISTRATIONS with the time until the next is let in.
   */
  async count(address: string | undefined): Promise<void> {
    for (const { kind, name, bound } of countedNetworks(address, this.#bound)) {
      const window = this.#registrations.window(kind === 'network' ? name : `${kind} ${name}`);
      if ((await this.#registrations.add(window, 1)) > bound) {
        throw new PlatenError('TOO_MANY_REGISTRATIONS', undefined, {
          retryAfterSeconds: window.leftMs / 1000,
        });
      }
    }
  }

  /** @returns how many counts there were. */
  deleteExpired(now: Date): Promise<number> {
    return this.#registrations.deleteEnded(now);
  }
}
