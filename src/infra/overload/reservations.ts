export interface ReservationBounds {
  /** Weight that one owner may hold: bytes, or a number of things. */
  readonly perOwner: number;
  /** Weight that all owners together may hold. */
  readonly inAll: number;
}

interface ReservationRules extends ReservationBounds {
  /** Which reservation of the owner with the most weight is evicted. Default: the oldest. */
  readonly evict?: 'oldest' | 'newest';
  /** Makes the error past the bound of one owner. */
  readonly ownerExceeded: () => Error;
  /** Makes the error past the bound of all owners, which an evicted reservation gets as well. */
  readonly allExceeded: () => Error;
}

/** The weight that one body, response or stream holds. */
export interface Reservation {
  /** False once it has been released or evicted. */
  readonly held: boolean;
  /** Adds weight. @throws as `Reservations.reserve`; the reservation is released then. */
  grow(weight: number): void;
  /** Protects it from eviction from now on. */
  keep(): void;
  /** Gives all of its weight back. Calling it again changes nothing. */
  release(): void;
}

/** Called when a reservation has been evicted; its weight has been given back by then. */
type OnEvicted = (error: Error) => void;

interface Entry {
  weight: number;
  /** Absent for a reservation that cannot be evicted. */
  onEvicted?: OnEvicted | undefined;
}

interface Owner {
  weight: number;
  /** In the order of their creation. */
  readonly entries: Set<Entry>;
}

/**
 * Bounds the weight that is held at a time, for each owner and for all owners together. When all weight is held, a new
 * reservation does not wait: a reservation of the owner with the most weight is evicted, if that owner holds more than
 * the new reservation's owner would. So no owner can keep others out, and between equals the new reservation is
 * rejected.
 */
export class Reservations {
  readonly #rules: ReservationRules;
  readonly #owners = new Map<string, Owner>();
  #total = 0;

  constructor(rules: ReservationRules) {
    this.#rules = rules;
  }

  /** Weight that is held at the moment. */
  get total(): number {
    return this.#total;
  }

  /** Weight that is still free for all owners together. */
  get free(): number {
    return this.#rules.inAll - this.#total;
  }

  /** Whether a weight of 1 can be reserved for this owner without an eviction. */
  hasRoom(ownerId: string): boolean {
    return this.free > 0 && (this.#owners.get(ownerId)?.weight ?? 0) < this.#rules.perOwner;
  }

  /** Owners that have reached their bound. */
  full(): string[] {
    return [...this.#owners].filter(([, { weight }]) => weight >= this.#rules.perOwner).map(([id]) => id);
  }

  /**
   * @param ownerId an account, or a network.
   * @param weight that is known at the beginning; it may grow later.
   * @param onEvicted without it the reservation is never evicted.
   * @throws the errors that `ownerExceeded` and `allExceeded` of the rules make.
   */
  reserve(ownerId: string, weight: number, onEvicted?: OnEvicted): Reservation {
    const owner = this.#owners.get(ownerId) ?? { weight: 0, entries: new Set() };
    const entry: Entry = { weight: 0, onEvicted };
    this.#owners.set(ownerId, owner);
    owner.entries.add(entry);
    const release = () => this.#release(ownerId, entry);
    const grow = (more: number) => {
      try {
        this.#take(owner, entry, more);
      } catch (error) {
        release();
        throw error;
      }
    };
    grow(weight);
    return {
      get held() {
        return owner.entries.has(entry);
      },
      grow,
      keep() {
        entry.onEvicted = undefined;
      },
      release,
    };
  }

  #take(owner: Owner, entry: Entry, weight: number): void {
    const { inAll, perOwner, ownerExceeded, allExceeded } = this.#rules;
    if (owner.weight + weight > perOwner) throw ownerExceeded();
    while (this.#total + weight > inAll) if (!this.#evictFrom(owner.weight + weight)) throw allExceeded();
    owner.weight += weight;
    entry.weight += weight;
    this.#total += weight;
  }

  /** Evicts one of the owner with the most weight, if it holds more than `weight`. @returns whether it did. */
  #evictFrom(weight: number): boolean {
    let most: { ownerId: string; entry: Entry } | undefined;
    let mostWeight = weight;
    for (const [ownerId, owner] of this.#owners) {
      if (owner.weight <= mostWeight) continue;
      const evictable = [...owner.entries].filter(({ onEvicted }) => onEvicted !== undefined);
      const entry = evictable.at(this.#rules.evict === 'newest' ? -1 : 0);
      if (entry === undefined) continue;
      most = { ownerId, entry };
      mostWeight = owner.weight;
    }
    if (most === undefined) return false;
    const { ownerId, entry } = most;
    this.#release(ownerId, entry);
    entry.onEvicted?.(this.#rules.allExceeded());
    return true;
  }

  #release(ownerId: string, entry: Entry): void {
    const owner = this.#owners.get(ownerId);
    if (owner === undefined || !owner.entries.delete(entry)) return;
    owner.weight -= entry.weight;
    this.#total -= entry.weight;
    if (owner.entries.size === 0) this.#owners.delete(ownerId);
  }
}
