import { createHash } from 'node:crypto';
import type { Connection } from 'mongoose';
import type { Clock } from '../../infra/clock.ts';
import { type CountedWindows, type OpenWindow, WindowCounter } from '../../infra/store/fixed-window.ts';
import { countedNetworks, siteOf } from '../limits/network-of.ts';

interface FailureBounds {
  /**
   * Failures for one e-mail address, whether or not it has an account, from one IPv4 address or one IPv6 /48. From all
   * addresses together ten times as many: a single attacker cannot lock out the account's owner.
   */
  readonly perAccount: number;
  /** Failures from one IPv4 address or one IPv6 /64, a customer's network; ten times as many from a /48. */
  readonly perNetwork: number;
}

/** How many times `perAccount` there may be for one account from all addresses. */
const EVERYWHERE_TIMES = 10;

/** Failures of one account or one network, by `<kind>:<hash>`. */
const FAILURES: CountedWindows = {
  spec: {
    name: 'sign_in_failures',
    account: { none: 'counts by hashes of addresses, for 15 minutes' },
    indexes: [{ fields: { expiresAt: 1 } }],
  },
  fields: { count: 'failures', end: 'expiresAt' },
  lengthMs: 15 * 60_000,
};

/**
 * Counts failed sign-ins, over all processes. An attempt counts as a failure from its beginning until it succeeds, so
 * that concurrent guesses cannot exceed the bounds.
 */
export class FailureLimit {
  readonly #failures: WindowCounter;
  readonly #bounds: FailureBounds;

  constructor(connection: Connection, clock: Clock, bounds: FailureBounds) {
    this.#failures = new WindowCounter(connection, clock, FAILURES);
    this.#bounds = bounds;
  }

  /**
   * Begins an attempt.
   *
   * @param address the client's IP address; undefined when the connection is closed already.
   * @returns a function to call when the attempt has succeeded.
   * @throws PlatenError TOO_MANY_FAILURES with the time until the next attempt is allowed.
   */
  async begin(email: string, address: string | undefined): Promise<() => Promise<void>> {
    const { perNetwork, perAccount } = this.#bounds;
    const counted = [
      ...countedNetworks(address, perNetwork),
      { kind: 'account-and-site', name: `${email}\n${siteOf(address)}`, bound: perAccount },
      { kind: 'account', name: email, bound: EVERYWHERE_TIMES * perAccount },
    ];
    const windows: OpenWindow[] = [];
    // One after the other: a network that is rejected must not count against accounts.
    for (const { kind, name, bound } of counted) {
      const key = `${kind}:${createHash('sha256').update(name).digest('base64url')}`;
      windows.push(await this.#failures.countWithin(key, bound, 'TOO_MANY_FAILURES'));
    }
    return async () => {
      await Promise.all(windows.map((window) => this.#failures.add(window, -1)));
    };
  }

  /** @returns the number of deleted counts. */
  deleteExpired(now: Date): Promise<number> {
    return this.#failures.deleteEnded(now);
  }
}
