import { isDeepStrictEqual } from 'node:util';
import { JOB_CLASSES, type JobClass } from '../../infra/bus/bus.ts';
import type { Clock } from '../../infra/clock.ts';
import { CLOCK_SKEW_MS } from '../../infra/store/future-times.ts';
import type { AccountPlans, PlanFacts } from '../../tenants/accounts/account-plans.ts';
import type { NamedPlan } from '../../tenants/plans/plan.ts';
import type { LedgerLoads } from './ledger/ledger-loads.ts';
import { type LedgerLoad, queueState, waitingIn } from './ledger/ledger-record.ts';
import { PRIORITY_QUEUES } from './priority-queues.ts';

/** What an account has in flight and waiting. There may be many: it has no more than is needed. */
export interface AccountLoad {
  readonly accountId: string;
  readonly inFlight: number;
  readonly waiting: number;
  /** Jobs that wait at a position, by class. */
  readonly atPositions: Readonly<Record<JobClass, number>>;
  /** The jobs that hold slots, if their names were read. */
  readonly holders: readonly string[];
}

/** The accounts with jobs in flight or waiting, and their plans, as of one moment. */
export interface Loads {
  readonly accounts: readonly AccountLoad[];
  readonly planOf: (load: AccountLoad) => NamedPlan;
  /** Ledgers that have been read, because they have changed or all were read. */
  readonly changed: number;
}

interface AccountLoadsDeps {
  readonly ledgers: Pick<LedgerLoads, 'active' | 'changedAfter'>;
  readonly plans: Pick<AccountPlans, 'factsOf' | 'named'>;
  readonly clock: Clock;
}

/** All is read again after this time, in milliseconds. */
const ALL_EVERY_MS = 60_000;
/** The plan of an account that changes is read again after this time, in milliseconds. */
const PLAN_EVERY_MS = 10_000;
/** Accounts whose plans are in memory at a time while they are read: as many as one query finds. */
const LEARNT_TOGETHER = 1000;
const NONE: AccountLoad['atPositions'] = { interactive: 0, bulk: 0 };
const NOBODY: AccountLoad['holders'] = [];

/**
 * Keeps what decides the demand of each account, and reads only what has changed since the last time. Once a minute all is
 * read: until then a change may be missed that a version without `changedAt` has made or that became visible late, or that
 * is another plan or the suspension of an account that does nothing.
 */
export class AccountLoads {
  readonly #deps: AccountLoadsDeps;
  #loads = new Map<string, AccountLoad>();
  readonly #plans: PlanNames;
  #allAtMs = Number.NEGATIVE_INFINITY;
  /** The latest change that is known, and that of the time before: what is visible late is found by reading from there. */
  #latest = 0;
  #from = 0;

  constructor(deps: AccountLoadsDeps) {
    this.#deps = deps;
    this.#plans = new PlanNames(deps.plans);
  }

  /** @throws when the database cannot be read; the next call goes on from what is known. */
  async read(): Promise<Loads> {
    const nowMs = performance.now();
    const readsAll = nowMs - this.#allAtMs >= ALL_EVERY_MS;
    const changed = await (readsAll ? this.#readAll(nowMs) : this.#readChanged(nowMs));
    if (readsAll) this.#allAtMs = nowMs;
    return { accounts: [...this.#loads.values()], planOf: this.#plans.lookUp(), changed };
  }

  async #readAll(nowMs: number): Promise<number> {
    const { ledgers, clock } = this.#deps;
    const loads = new Map<string, AccountLoad>();
    // By the time of the database, which another member of it may tell from now on; by that of this process if there is none.
    let latest = clock.now().getTime() - CLOCK_SKEW_MS;
    let read = 0;
    await ledgers.active((ledger) => {
      read += 1;
      latest = Math.max(latest, ledger.changedAt?.getTime() ?? 0);
      if (!isLoaded(ledger)) return;
      const load = this.#asKnown(loadOf(ledger));
      loads.set(load.accountId, load);
    });
    await this.#plans.learnAll([...loads.keys()], nowMs);
    this.#loads = loads;
    this.#from = latest;
    this.#latest = latest;
    return read;
  }

  /** The load that is known already if it is the same, so that reading all again keeps no second copy of most. */
  #asKnown(load: AccountLoad): AccountLoad {
    const known = this.#loads.get(load.accountId);
    return isDeepStrictEqual(known, load) ? known! : load;
  }

  async #readChanged(nowMs: number): Promise<number> {
    const changed: LedgerLoad[] = [];
    await this.#deps.ledgers.changedAfter(new Date(this.#from), (ledger) => changed.push(ledger));
    const loaded = changed.filter(isLoaded);
    await this.#plans.learn(
      loaded.map(({ _id }) => _id),
      nowMs,
    );
    this.#from = this.#latest;
    for (const ledger of changed) {
      this.#latest = Math.max(this.#latest, ledger.changedAt?.getTime() ?? 0);
      if (isLoaded(ledger)) this.#loads.set(ledger._id, loadOf(ledger));
      else {
        this.#loads.delete(ledger._id);
        this.#plans.forget(ledger._id);
      }
    }
    return changed.length;
  }
}

/** What decides the plans of accounts. Few are different: each is one object for all accounts that have it. */
class PlanNames {
  readonly #plans: AccountLoadsDeps['plans'];
  readonly #known = new Map<string, { readonly facts: PlanFacts; readonly atMs: number }>();
  readonly #different = new Map<string, PlanFacts>();

  constructor(plans: AccountLoadsDeps['plans']) {
    this.#plans = plans;
  }

  /** Reads those of accounts that are not known, or not of late. */
  async learn(accountIds: readonly string[], nowMs: number): Promise<void> {
    const wanted = accountIds.filter(
      (id) => nowMs - (this.#known.get(id)?.atMs ?? Number.NEGATIVE_INFINITY) >= PLAN_EVERY_MS,
    );
    for (let from = 0; from < wanted.length; from += LEARNT_TOGETHER) {
      const asked = wanted.slice(from, from + LEARNT_TOGETHER);
      const some = await this.#plans.factsOf(asked);
      for (const id of asked) {
        const found = some.get(id);
        if (found === undefined) continue;
        const { plan, suspendedAt } = found;
        const key = `${plan} ${suspendedAt !== undefined}`;
        const facts = this.#different.get(key) ?? { plan, ...(suspendedAt && { suspendedAt }) };
        this.#different.set(key, facts);
        this.#known.set(id, { facts, atMs: nowMs });
      }
    }
  }

  forget(accountId: string): void {
    this.#known.delete(accountId);
  }

  /** Reads those of all accounts anew, and forgets those of others. */
  async learnAll(accountIds: readonly string[], nowMs: number): Promise<void> {
    this.#known.clear();
    this.#different.clear();
    await this.learn(accountIds, nowMs);
  }

  /** What the plans allow at this moment. */
  lookUp(): Loads['planOf'] {
    const named = new Map<PlanFacts | undefined, NamedPlan>();
    return ({ accountId }) => {
      const facts = this.#known.get(accountId)?.facts;
      const known = named.get(facts) ?? this.#plans.named(facts);
      named.set(facts, known);
      return known;
    };
  }
}

function isLoaded({ inFlight, waiting }: LedgerLoad): boolean {
  return inFlight > 0 || waiting > 0;
}

/** The load in a ledger. */
export function loadOf(ledger: LedgerLoad): AccountLoad {
  const { _id: accountId, inFlight, holders } = ledger;
  return {
    accountId,
    inFlight,
    waiting: waitingIn(ledger),
    atPositions: atPositionsIn(ledger),
    holders: holders === undefined ? NOBODY : Object.keys(holders),
  };
}

function atPositionsIn(ledger: LedgerLoad): AccountLoad['atPositions'] {
  const counts = { ...NONE };
  for (const queue of PRIORITY_QUEUES) {
    const { head, tail } = queueState(ledger, queue);
    const jobClass = JOB_CLASSES.find((name) => queue.startsWith(name));
    if (jobClass !== undefined) counts[jobClass] += Math.max(0, tail - head);
  }
  return counts.interactive + counts.bulk === 0 ? NONE : counts;
}
