import { isDeepStrictEqual } from 'node:util';
import type { Connection } from 'mongoose';
import { Collection, type CollectionSpec } from '../store/collection.ts';
import { FREE_PLAN, type Plan, type PlanName } from './plan.ts';
import { BUILT_IN, type PlanSet, type PoolSettings } from './plan-source.ts';

const MIRROR: CollectionSpec = { name: 'plan_mirror' };
/** All plans and pools are one record, so that whoever reads it sees them as they were at one moment. */
const CURRENT = 'current';
/** Writers that meet are few: one leader, and perhaps the one before it. */
const TRIES = 5;

/** As lists: the names may hold dots, which a record's field names had better not. */
interface MirrorRecord {
  readonly _id: typeof CURRENT;
  /** Grows with every change, from 1. */
  readonly revision: number;
  readonly plans: readonly ({ readonly name: PlanName } & Plan)[];
  readonly pools: readonly ({ readonly name: string } & PoolSettings)[];
  /** Absent when a version of Platen has written it that did not note it. */
  readonly origins?: {
    readonly plans: readonly Origin[];
    readonly pools: readonly Origin[];
  };
}

interface Origin {
  readonly name: string;
  readonly namespace: string;
}

/** By name, the namespace of the resource that describes a plan or a pool. A built-in plan that none describes has none. */
export interface Origins {
  readonly plans: ReadonlyMap<PlanName, string>;
  readonly pools: ReadonlyMap<string, string>;
}

/** Of what was mirrored by a version of Platen that did not note where it came from. */
export const UNKNOWN_ORIGIN = '';

const NO_ORIGINS: Origins = { plans: new Map(), pools: new Map() };

/** What was mirrored, and which version of it that is. */
export interface MirroredSet {
  readonly revision: number;
  readonly set: PlanSet;
  /** Undefined when it was written by a version that did not note them. */
  readonly origins: Origins | undefined;
}

/**
 * The plans and pools of the cluster's resources as the processes that work on jobs see them: written by the controller,
 * read by everybody else.
 */
export class PlanMirror {
  readonly #records: Collection<MirrorRecord>;

  /** To be made before the connection's indexes are. */
  constructor(connection: Connection) {
    this.#records = new Collection<MirrorRecord>(connection, MIRROR);
  }

  /**
   * Makes the mirror show exactly these plans and pools. When it does already nothing is written.
   *
   * @param origins where they come from: for the writer that comes next, and cannot see all of it.
   * @returns the revision that shows them.
   * @throws when other writers are always faster.
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
    throw new Error('The plans were not mirrored: others write them, too.');
  }

  /** The revision of what is mirrored, without reading the rest; 0 as long as nothing is. */
  async revision(): Promise<number> {
    return (await this.#records.findById(CURRENT, { revision: 1 }))?.revision ?? 0;
  }

  /** Undefined as long as nothing is mirrored. */
  async read(): Promise<MirroredSet | undefined> {
    const record = await this.#records.findById(CURRENT);
    if (record === undefined) return undefined;
    const free = BUILT_IN.plans.get(FREE_PLAN)!;
    // Of another version of Platen, a plan may lack a field that has come since: `free` says it, as for a plans file.
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

/** The built-in ones first, as people know them. */
function inOrder(plans: ReadonlyMap<PlanName, Plan>): ReadonlyMap<PlanName, Plan> {
  const builtIn = [...BUILT_IN.plans.keys()].filter((name) => plans.has(name));
  return new Map([...new Set([...builtIn, ...plans.keys()])].map((name) => [name, plans.get(name)!]));
}

function origin(namespaces: ReadonlyMap<string, string>): Origin[] {
  return [...namespaces]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, namespace]) => ({ name, namespace }));
}

/** In the order of their names, and without fields that are not set: the same set is always the same record. */
function named<T extends object>(entries: ReadonlyMap<string, T>): ({ readonly name: string } & T)[] {
  return [...entries]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => ({ name, ...(JSON.parse(JSON.stringify(value)) as T) }));
}
