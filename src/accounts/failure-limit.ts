import { createHash } from 'node:crypto';
import type { Connection } from 'mongoose';
import type { Clock } from '../clock.ts';
import { PlatenError } from '../errors/registry.ts';
import { type CountedWindows, type OpenWindow, WindowCounter } from '../limits/fixed-window.ts';
import { networkOf } from '../limits/network-of.ts';

export interface FailureBounds {
  /** Failures for one e-mail address, whether it has an account or not. */
  readonly perAccount: number;
  /** Failures from one client address; of IPv6 from one /64, which is what one customer gets. */
  readonly perNetwork: number;
}

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
    const network = this.#failures.window(`network:${hashed(networkOf(address))}`);
    const account = this.#failures.window(`account:${hashed(email)}`);
    // One after the other: a network that is refused must not go on to lock accounts.
    refuseAbove(this.#bounds.perNetwork, await this.#failures.add(network, 1), network);
    refuseAbove(this.#bounds.perAccount, await this.#failures.add(account, 1), account);
    return async () => {
      await Promise.all([this.#failures.add(network, -1), this.#failures.add(account, -1)]);
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
