import { type Reservation, Reservations } from '../overload/reservations.ts';
import type { Delivery } from './delivery.ts';
import type { Busy } from './delivery-store.ts';

/** The most deliveries under way. */
const ALL = 128;
const PER_ACCOUNT = 16;
const PER_HOST = 16;
/** Of one account to one host: less than either, so that a dead receiver leaves capacity for others. */
const PER_ACCOUNT_AND_HOST = 4;

/**
 * Bounds the deliveries under way per account, per host and per both, so that no account and no receiver takes what
 * belongs to others.
 */
export class AttemptReservations {
  readonly #pairs = upTo(PER_ACCOUNT_AND_HOST);
  readonly #accounts = upTo(PER_ACCOUNT);
  readonly #hosts = upTo(PER_HOST);

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
function upTo(perOwner: number): Reservations {
  const exceeded = () => new Error('There is no room for another attempt.');
  return new Reservations({ perOwner, inAll: ALL, ownerExceeded: exceeded, allExceeded: exceeded });
}
