import { type Reservation, Reservations } from '../overload/reservations.ts';
import type { Delivery } from './delivery.ts';
import type { Busy } from './delivery-store.ts';

/** Bounds on the deliveries under way. */
export interface AttemptBounds {
  readonly all: number;
  readonly perAccount: number;
  readonly perHost: number;
  /** Of one account to one host: less than either, so that a dead receiver leaves capacity for others. */
  readonly perAccountAndHost: number;
}

export const ATTEMPT_BOUNDS: AttemptBounds = { all: 128, perAccount: 16, perHost: 16, perAccountAndHost: 4 };

/**
 * Bounds the deliveries under way per account, per host and per both, so that no account and no receiver takes what
 * belongs to others.
 */
export class AttemptReservations {
  readonly #pairs: Reservations;
  readonly #accounts: Reservations;
  readonly #hosts: Reservations;

  constructor({ all, perAccount, perHost, perAccountAndHost }: AttemptBounds) {
    this.#pairs = upTo(perAccountAndHost, all);
    this.#accounts = upTo(perAccount, all);
    this.#hosts = upTo(perHost, all);
  }

  get free(): number {
    return this.#accounts.free;
  }

  /** @returns undefined when a bound is reached. */
  reserve({
    lane: pair,
    accountId,
    host,
  }: Pick<Delivery, 'lane' | 'accountId' | 'host'>): Pick<Reservation, 'release'> | undefined {
    const wanted = [
      [this.#pairs, pair],
      [this.#accounts, accountId],
      [this.#hosts, host],
    ] as const;
    if (!wanted.every(([of, ownerId]) => of.hasRoom(ownerId))) return undefined;
    const reserved = wanted.map(([of, ownerId]) => of.reserve(ownerId, 1));
    return {
      release() {
        for (const reservation of reserved) reservation.release();
      },
    };
  }

  /** The owners at their bounds. */
  busy(): Busy {
    return { lanes: this.#pairs.full(), accounts: this.#accounts.full(), hosts: this.#hosts.full() };
  }
}

/** Nothing is evicted: a delivery under way is only waited for. */
function upTo(perOwner: number, inAll: number): Reservations {
  const exceeded = () => new Error('There is no room for another attempt.');
  return new Reservations({ perOwner, inAll, ownerExceeded: exceeded, allExceeded: exceeded });
}
