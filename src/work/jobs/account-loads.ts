import { systemTimers, type Timers } from '../../infra/async/timers.ts';
import type { Clock } from '../../infra/clock.ts';
import { CLOCK_SKEW_MS } from '../../infra/store/future-times.ts';
import type { AccountPlans, PlanFacts } from '../../tenants/accounts/account-plans.ts';
import type { NamedPlan } from '../../tenants/plans/plan.ts';
import type { LedgerLoads } from './ledger/ledger-loads.ts';
import type { LedgerLoad } from './ledger/ledger-record.ts';

interface AccountLoadsDeps {
  readonly ledgers: Pick<LedgerLoads, 'active' | 'changedAfter'>;
  readonly plans: Pick<AccountPlans, 'factsOf' | 'named'>;
  readonly clock: Clock;
  readonly timers?: Timers;
}

/** The ledgers of all accounts with jobs in flight or waiting, and their plans, as of one moment. */
export interface Loads {
  readonly ledgers: readonly LedgerLoad[];
  readonly plans: ReadonlyMap<string, NamedPlan>;
  /** Ledgers that have been read, because they have changed or all were read. */
  readonly changed: number;
}

/** All is read again after this time, in milliseconds. */
const ALL_EVERY_MS = 60_000;

/**
 * Keeps what decides the demand of each account, and reads only what has changed since the last time. Once a minute all is
 * read: until then a change may be missed that a version without `changedAt` has made or that became visible late, or that
 * is another plan or the suspension of an account that does nothing.
 */
export class AccountLoads {
  readonly #deps: AccountLoadsDeps;
  readonly #timers: Timers;
  #loads = new Map<string, LedgerLoad>();
  #facts = new Map<string, PlanFacts>();
  #allAtMs = Number.NEGATIVE_INFINITY;
  /** The latest change that is known, and that of the time before: what is visible late is found by reading from there. */
  #latest = new Date(0);
  #from = new Date(0);

  constructor(deps: AccountLoadsDeps) {
    this.#deps = deps;
    this.#timers = deps.timers ?? systemTimers;
  }

  /** @throws when the database cannot be read; the next call goes on from what is known. */
  async read(): Promise<Loads> {
    const nowMs = this.#timers.nowMs();
    const readsAll = nowMs - this.#allAtMs >= ALL_EVERY_MS;
    const changed = await (readsAll ? this.#readAll() : this.#readChanged());
    if (readsAll) this.#allAtMs = nowMs;
    const { plans } = this.#deps;
    const ledgers = [...this.#loads.values()];
    const named = new Map(ledgers.map(({ _id }) => [_id, plans.named(this.#facts.get(_id))]));
    return { ledgers, plans: named, changed };
  }

  async #readAll(): Promise<number> {
    const { ledgers, plans, clock } = this.#deps;
    const loads = await ledgers.active();
    this.#facts = await plans.factsOf(loads.map(({ _id }) => _id));
    this.#loads = new Map(loads.filter(isLoaded).map((load) => [load._id, load]));
    // By the time of the database, which another member of it may tell from now on; by that of this process if there is none.
    this.#from = latestOf(loads, new Date(clock.now().getTime() - CLOCK_SKEW_MS));
    this.#latest = this.#from;
    return loads.length;
  }

  async #readChanged(): Promise<number> {
    const { ledgers, plans } = this.#deps;
    const changed = await ledgers.changedAfter(this.#from);
    const loaded = changed.filter(isLoaded);
    const facts = loaded.length === 0 ? [] : await plans.factsOf(loaded.map(({ _id }) => _id));
    for (const { _id } of changed) {
      this.#loads.delete(_id);
      this.#facts.delete(_id);
    }
    for (const load of loaded) this.#loads.set(load._id, load);
    for (const [id, of] of facts) this.#facts.set(id, of);
    this.#from = this.#latest;
    this.#latest = latestOf(changed, this.#latest);
    return changed.length;
  }
}

function isLoaded({ inFlight, waiting }: LedgerLoad): boolean {
  return inFlight > 0 || waiting > 0;
}

function latestOf(loads: readonly LedgerLoad[], least: Date): Date {
  let latest = least;
  for (const { changedAt } of loads) if (changedAt !== undefined && changedAt > latest) latest = changedAt;
  return latest;
}
