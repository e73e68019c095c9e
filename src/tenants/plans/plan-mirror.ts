import { isDeepStrictEqual } from 'node:util';
import type { Connection } from 'mongoose';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import { FREE_PLAN, type Plan, type PlanName } from './plan.ts';
import { BUILT_IN, type PlanSet, type PoolSettings } from './plan-source.ts';

const MIRROR: CollectionSpec = { name: 'plan_mirror', account: { none: 'the plans of the installation' } };
/** All plans and pools are one record, so that a reader sees a consistent set. */
const CURRENT = 'current';
/** Attempts to write. Concurrent writers are few: the leader, and perhaps the previous one. */
const TRIES = 5;

/** Plans and pools are lists because their names may contain dots, which field names of a record should not. */
interface MirrorRecord {
  readonly _id: typeof CURRENT;
  /** Grows with every change, from 1. */
  readonly revision: number;
  readonly plans: readonly ({ readonly name: PlanName } & Plan)[];
  readonly pools: readonly ({ readonly name: string } & PoolSettings)[];
  /** Absent in a record of a version of Platen that did not write origins. */
  readonly origins?: {
    readonly plans: readonly Origin[];
    readonly pools: readonly Origin[];
  };
}

interface Origin {
  readonly name: string;
  readonly namespace: string;
}

/** The namespace of each plan's or pool's resource, by name; a built-in plan without a resource has none. */
interface Origins {
  readonly plans: ReadonlyMap<PlanName, string>;
  readonly pools: ReadonlyMap<string, string>;
}

/** The origin of a plan or pool that a version of Platen mirrored which did not write origins. */
export const UNKNOWN_ORIGIN = '';

const NO_ORIGINS: Origins = { plans: new Map(), pools: new Map() };

/** The mirrored plans and pools, and their revision. */
export interface MirroredSet {
  readonly revision: number;
  readonly set: PlanSet;
  /** Undefined in a record of a version of Platen that did not write origins. */
  readonly origins: Origins | undefined;
}

/** The plans and pools of the cluster's resources: written by the controller, read by the other roles. */
export class PlanMirror {
  readonly #records: Collection<MirrorRecord>;

  /** To be created before the connection's indexes. */
  constructor(connection: Connection) {
    this.#records = new Collection<MirrorRecord>(connection, MIRROR);
  }

  /**
   * Makes the mirror contain exactly these plans and pools. Nothing is written when it does already.
   *
   * @param origins the namespaces that they come from, for a later writer that cannot read all of these namespaces.
   * @returns the revision that contains them.
   * @throws when concurrent writers were faster in every attempt.
   */
  async write(set: PlanSet, origins = NO_ORIGINS): Promise<number> {
    const wanted = {
      plans: named(set.plans),
      pools: named(set.pools),
      origins: { plans: origin(origins.plans), pools: origin(origins.pools) },
    };
    for (let tries = 1; tries <= TRIES; tries += 1) {
      const seen = await this.#records.findById(CURRENT);
      if (seen !== undefined) {
        const { plans, pools } = seen;
        if (isDeepStrictEqual({ plans, pools, origins: seen.origins }, wanted)) return seen.revision;
      }
      const revision = (seen?.revision ?? 0) + 1;
      const written =
        seen === undefined
          ? await this.#records.insertIfAbsent({ _id: CURRENT, revision, ...wanted })
          : await this.#records.updateOne(
              { _id: CURRENT, revision: seen.revision },
              { $set: { revision, ...wanted } },
            );
      if (written) return revision;
    }
    throw new Error('The plans were not mirrored: they were written concurrently.');
  }

  /** The mirrored revision, without reading the plans; 0 as long as nothing is mirrored. */
  async revision(): Promise<number> {
    return (await this.#records.findById(CURRENT, { revision: 1 }))?.revision ?? 0;
  }

  /** Undefined as long as nothing is mirrored. */
  async read(): Promise<MirroredSet | undefined> {
    const record = await this.#records.findById(CURRENT);
    if (record === undefined) return undefined;
    const free = BUILT_IN.plans.get(FREE_PLAN)!;
    // A plan written by an older version may lack a newer field: it takes the value of `free`, as in a plans file.
    const plans = record.plans.map(({ name, ...plan }): [PlanName, Plan] => [
      name,
      { ...free, ...plan, features: { ...free.features, ...plan.features } },
    ]);
    const { origins } = record;
    const byName = (list: readonly Origin[]) => new Map(list.map(({ name, namespace }) => [name, namespace]));
    const pools = record.pools.map(({ name, ...settings }): [string, PoolSettings] => [name, settings]);
    return {
      revision: record.revision,
      set: { plans: inOrder(new Map([[FREE_PLAN, free], ...plans])), pools: new Map(pools) },
      origins: origins && { plans: byName(origins.plans), pools: byName(origins.pools) },
    };
  }
}

/** The built-in plans first, in their usual order. */
function inOrder(plans: ReadonlyMap<PlanName, Plan>): ReadonlyMap<PlanName, Plan> {
  const builtIn = [...BUILT_IN.plans.keys()].filter((name) => plans.has(name));
  return new Map([...new Set([...builtIn, ...plans.keys()])].map((name) => [name, plans.get(name)!]));
}

function origin(namespaces: ReadonlyMap<string, string>): Origin[] {
  return [...namespaces]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, namespace]) => ({ name, namespace }));
}

/** Sorted by name and without unset fields, so that the same set is always the same record. */
function named<T extends object>(entries: ReadonlyMap<string, T>): ({ readonly name: string } & T)[] {
  return [...entries]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => ({ name, ...(JSON.parse(JSON.stringify(value)) as T) }));
}
