import type { Busy, DueEntry } from './delivery-store.ts';

/** Deliveries that may be under way at a time. */
export interface ShareLimits {
  readonly all: number;
  readonly perAccount: number;
  readonly perHost: number;
  /** Of one account to one host: less than either, so that a dead receiver leaves room for its neighbours. */
  readonly perLane: number;
}

export const SHARES: ShareLimits = { all: 128, perAccount: 16, perHost: 16, perLane: 4 };

/** Whose shares a delivery counts for. */
type Sharer = Pick<DueEntry, 'lane' | 'accountId' | 'host'>;

/** Counts what is under way, so that no account and no receiver takes what belongs to others. */
export class Shares {
  readonly #limits: ShareLimits;
  readonly #lanes = new Map<string, number>();
  readonly #accounts = new Map<string, number>();
  readonly #hosts = new Map<string, number>();
  #all = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  get free(): number {
    return this.#limits.all - this.#all;
  }

  /** @returns false when there is no room for it. */
  take({ lane, accountId, host }: Sharer): boolean {
    const { perLane, perAccount, perHost } = this.#limits;
    const room =
      this.free > 0 &&
      (this.#lanes.get(lane) ?? 0) < perLane &&
      (this.#accounts.get(accountId) ?? 0) < perAccount &&
      (this.#hosts.get(host) ?? 0) < perHost;
    if (room) this.#count({ lane, accountId, host }, 1);
    return room;
  }

  giveBack(sharer: Sharer): void {
    this.#count(sharer, -1);
  }

  /** Those who have no room left. */
  busy(): Busy {
    const { perLane, perAccount, perHost } = this.#limits;
    return {
      lanes: atLeast(this.#lanes, perLane),
      accounts: atLeast(this.#accounts, perAccount),
      hosts: atLeast(this.#hosts, perHost),
    };
  }

  #count({ lane, accountId, host }: Sharer, by: 1 | -1): void {
    this.#all += by;
    add(this.#lanes, lane, by);
    add(this.#accounts, accountId, by);
    add(this.#hosts, host, by);
  }
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

function atLeast(counts: ReadonlyMap<string, number>, limit: number): string[] {
  return [...counts].filter(([, count]) => count >= limit).map(([key]) => key);
}
