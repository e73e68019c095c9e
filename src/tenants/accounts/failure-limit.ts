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

/** Wrong codes of one person from all networks together, in 15 minutes. */
const CODES = 10;
/** Passkeys that one person begins to make, in 15 minutes. */
const REGISTRATIONS = 50;
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
export class FailureLimit extends WindowCounter {
  readonly #bounds: FailureBounds;

  constructor(connection: Connection, clock: Clock, bounds: FailureBounds) {
    super(connection, clock, FAILURES);
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
      windows.push(await this.countWithin(key, bound, 'TOO_MANY_FAILURES'));
    }
    return async () => {
      await Promise.all(windows.map((window) => this.add(window, -1)));
    };
  }

  /**
   * Begins an attempt at a second factor. All attempts of a person count together: whoever makes them knows the password,
   * and there are a million codes.
   *
   * @returns a function to call when the attempt has succeeded.
   * @throws PlatenError TOO_MANY_FAILURES with the time until the next attempt is allowed.
   */
  async beginCode(personId: string): Promise<() => Promise<void>> {
    const window = await this.countWithin(`code:${personId}`, CODES, 'TOO_MANY_FAILURES');
    return async () => {
      await this.add(window, -1);
    };
  }

  /**
   * Begins a sign-in by a passkey, which stores a challenge.
   *
   * @param address the client's IP address; undefined when the connection is closed already.
   * @throws PlatenError TOO_MANY_FAILURES with the time until the next attempt is allowed.
   */
  async beginPasskey(address: string | undefined): Promise<void> {
    for (const { kind, name, bound } of countedNetworks(address, this.#bounds.perNetwork))
      await this.countWithin(`passkey-${kind}:${name}`, bound, 'TOO_MANY_FAILURES');
  }

  /** A sign-in by a passkey has succeeded, from this address. */
  async passkeySucceeded(address: string | undefined): Promise<void> {
    for (const { kind, name } of countedNetworks(address, 0))
      await this.add(this.window(`passkey-${kind}:${name}`), -1);
  }

  /** A person begins to make a passkey. @throws PlatenError TOO_MANY_FAILURES */
  async beginRegistration(personId: string): Promise<void> {
    await this.countWithin(`passkey-of:${personId}`, REGISTRATIONS, 'TOO_MANY_FAILURES');
  }
}
