import type { Connection } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import { type CountedWindows, WindowCounter } from '../../infra/store/fixed-window.ts';
import { countedNetworks } from '../limits/network-of.ts';

/** Registrations that one network has attempted in an hour. */
const REGISTRATIONS: CountedWindows = {
  spec: {
    name: 'registrations',
    account: { none: 'counts of networks, for an hour' },
    indexes: [{ fields: { expiresAt: 1 } }],
  },
  fields: { count: 'registrations', end: 'expiresAt' },
  lengthMs: 3_600_000,
};

/** Counts attempts of a network to register accounts, over all processes, whether or not they succeed. */
export class RegistrationLimit extends WindowCounter {
  readonly #bound: number;

  /** @param bound attempts of one network an hour; an IPv6 /48 may make ten times as many. */
  constructor(connection: Connection, clock: Clock, bound: number) {
    super(connection, clock, REGISTRATIONS);
    this.#bound = bound;
  }

  /**
   * Counts one attempt.
   *
   * @param address the client's IP address; undefined when the connection is closed already.
   * @throws PlatenError TOO_MANY_REGISTRATIONS with the time until the next attempt is allowed.
   */
  async count(address: string | undefined): Promise<void> {
    for (const { kind, name, bound } of countedNetworks(address, this.#bound)) {
      const key = kind === 'network' ? name : `${kind} ${name}`;
      await this.countWithin(key, bound, 'TOO_MANY_REGISTRATIONS');
    }
  }
}
