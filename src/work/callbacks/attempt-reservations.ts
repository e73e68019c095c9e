import { type Reservation, Reservations } from '../../infra/overload/reservations.ts';
import type { Delivery } from './delivery.ts';
import type { Busy } from './delivery-store.ts';

/** The most deliveries under way. */
const ALL = 128;
const PER_ACCOUNT = 16;
/** To one host, by accounts that have others under way to it already. */
const PER_HOST = 16;
/**
 * To one host, with the first ones of further accounts: receivers of many accounts may have one host, and four of these
 * accounts must not keep the others out.
 */
const PER_HOST_WITH_FIRST = 64;
/** Of one account to one host: less than either, so that a dead receiver leaves capacity for others. */
const PER_ACCOUNT_AND_HOST = 4;

/** Bounds the deliveries under way per account, per host and per both: none takes what belongs to others. */
export class AttemptReservations {
  readonly #pairs = upTo(PER_ACCOUNT_AND_HOST);
  readonly #accounts = upTo(PER_ACCOUNT);
  /** By host, the account and host of each attempt under way. */
  readonly #attemptsAt = new Map<string, string[]>();

  get free(): number {
    return this.#accounts.free;
  }

  /** @returns undefined when a bound is reached. */
  reserve({
    pair,
    accountId,
    host,
  }: Pick<Delivery, 'pair' | 'accountId' | 'host'>): Pick<Reservation, 'release'> | undefined {
    const wanted = [
      [this.#pairs, pair],
      [this.#accounts, accountId],
    ] as const;
    if (!this.#hasRoomAt(host, pair) || !wanted.every(([of, ownerId]) => of.hasRoom(ownerId)))
      return undefined;
    const reserved = wanted.map(([of, ownerId]) => of.reserve(ownerId, 1));
    const pairs = this.#attemptsAt.get(host) ?? [];
    this.#attemptsAt.set(host, [...pairs, pair]);
    return {
      release: () => {
        for (const reservation of reserved) reservation.release();
        this.#releaseAt(host, pair);
      },
    };
  }

  /** The owners at their bounds. */
  busy(): Busy {
    const hosts = [...this.#attemptsAt];
    const atBound = hosts.filter(([, pairs]) => pairs.length >= PER_HOST).flatMap(([, pairs]) => pairs);
    return {
      pairs: [...new Set([...this.#pairs.full(), ...atBound])],
      accounts: this.#accounts.full(),
      hosts: hosts.filter(([, pairs]) => pairs.length >= PER_HOST_WITH_FIRST).map(([host]) => host),
    };
  }

  #hasRoomAt(host: string, pair: string): boolean {
    const pairs = this.#attemptsAt.get(host) ?? [];
    return pairs.length < (pairs.includes(pair) ? PER_HOST : PER_HOST_WITH_FIRST);
  }

  #releaseAt(host: string, pair: string): void {
    const pairs = this.#attemptsAt.get(host) ?? [];
    const left = pairs.toSpliced(pairs.indexOf(pair), 1);
    if (left.length === 0) this.#attemptsAt.delete(host);
    else this.#attemptsAt.set(host, left);
  }
}

/** Nothing is evicted: a delivery under way is only waited for. */
function upTo(perOwner: number): Reservations {
  const exceeded = () => new Error('There is no room for another attempt.');
  return new Reservations({ perOwner, inAll: ALL, ownerExceeded: exceeded, allExceeded: exceeded });
}
