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
}

/** What was mirrored, and which version of it that is. */
export interface MirroredSet {
  readonly revision: number;
  readonly set: PlanSet;
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
   * @returns the revision that shows them.
   * @throws when other writers are always faster.
   */
  async write(set: PlanSet): Promise<number> {
    const wanted = { plans: named(set.plans), pools: named(set.pools) };
    for (let tries = 1; tries <= TRIES; tries += 1) {
      const seen = await this.#records.findById(CURRENT);
      if (seen !== undefined && isDeepStrictEqual({ plans: seen.plans, pools: seen.pools }, wanted))
        return seen.revision;
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
    const pools = record.pools.map(({ name, ...settings }): [string, PoolSettings] => [name, settings]);
    return {
      revision: record.revision,
      set: { plans: inOrder(new Map([[FREE_PLAN, free], ...plans])), pools: new Map(pools) },
    };
  }
}

/** The built-in ones first, as people know them. */
function inOrder(plans: ReadonlyMap<PlanName, Plan>): ReadonlyMap<PlanName, Plan> {
  const builtIn = [...BUILT_IN.plans.keys()].filter((name) => plans.has(name));
  return new Map([...new Set([...builtIn, ...plans.keys()])].map((name) => [name, plans.get(name)!]));
}

/** In the order of their names, and without fields that are not set: the same set is always the same record. */
function named<T extends object>(entries: ReadonlyMap<string, T>): ({ readonly name: string } & T)[] {
  return [...entries]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => ({ name, ...(JSON.parse(JSON.stringify(value)) as T) }));
}
