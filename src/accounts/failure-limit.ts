import { createHash } from 'node:crypto';
import type { Connection } from 'mongoose';
import type { Clock } from '../clock.ts';
import { PlatenError } from '../errors/registry.ts';
import { type CountedWindows, type OpenWindow, WindowCounter } from '../limits/fixed-window.ts';
import { countedNetworks, siteOf } from '../limits/network-of.ts';

export interface FailureBounds {
  /**
   * Failures for one e-mail address, whether it has an account or not, from one client address; of IPv6 from one /48.
   * From everywhere together ten times as many: nobody keeps an account's owner out from a place of his own.
   */
  readonly perAccount: number;
  /** Failures from one client address; of IPv6 from one /64, which is what one customer gets, and ten times as many from one /48. */
  readonly perNetwork: number;
}

/** How many times as many there may be for one account from everywhere. */
const EVERYWHERE_TIMES = 10;

/** Failures of one account or one network, by `<kind>:<hash>`. */
const FAILURES: CountedWindows = {
  spec: { name: 'sign_in_failures', indexes: [{ fields: { expiresAt: 1 } }] },
  fields: { count: 'failures', end: 'expiresAt' },
  lengthMs: 15 * 60_000,
};

/**
 * Counts failures to sign in, for every process alike. An attempt counts as a failure from its beginning until it turns
 * out well, so guesses made at the same time cannot pass the bounds together.
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
   * @param address the client's; undefined when the connection is gone already.
   * @returns call it when the attempt has turned out well.
   * @throws PlatenError TOO_MANY_FAILURES with the time until an attempt is let in again.
   */
  async begin(email: string, address: string | undefined): Promise<() => Promise<void>> {
    const { perNetwork, perAccount } = this.#bounds;
    const counted = [
      ...countedNetworks(address, perNetwork),
      { kind: 'account-and-site', name: `${email}\n${siteOf(address)}`, bound: perAccount },
      { kind: 'account', name: email, bound: EVERYWHERE_TIMES * perAccount },
    ];
    const windows: OpenWindow[] = [];
    // One after the other: a network that is refused must not go on to lock accounts.
    for (const { kind, name, bound } of counted) {
      const window = this.#failures.window(`${kind}:${hashed(name)}`);
      refuseAbove(bound, await this.#failures.add(window, 1), window);
      windows.push(window);
    }
    return async () => {
      await Promise.all(windows.map((window) => this.#failures.add(window, -1)));
    };
  }

  /** @returns how many there were. */
  deleteExpired(now: Date): Promise<number> {
    return this.#failures.deleteEnded(now);
  }
}

function refuseAbove(bound: number, failures: number, { leftMs }: OpenWindow): void {
  if (failures > bound) {
    throw new PlatenError('TOO_MANY_FAILURES', undefined, { retryAfterSeconds: leftMs / 1000 });
  }
}

function hashed(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
