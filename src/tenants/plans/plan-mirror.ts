import { isDeepStrictEqual } from 'node:util';
import type { Connection } from 'mongoose';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import { FREE_PLAN, type Plan, type PlanName } from './plan.ts';
import { BUILT_IN, type PlanSet, type PoolSettings } from './plan-source.ts';

const MIRROR: CollectionSpec = {
  name: 'plan_mirror',
  account: { none: 'the plans of the installation' },
  scans: { '{}': 'a record for each cluster' },
};
/** As PLATEN_CLUSTER. */
const DEFAULT_CLUSTER = 'default';
/** Attempts to write. Concurrent writers are few: the leader, and perhaps the previous one. */
const TRIES = 5;

/** With its name, because names may contain dots, which field names of a record should not; and since when it is so. */
type Entry<T> = { readonly name: string; readonly changedAt: Date } & T;

/** All plans and pools of a cluster are one record, so that a reader sees a consistent set. */
interface MirrorRecord {
  /** The name of the cluster. */
  readonly _id: string;
  /** Grows with every change, from 1. */
  readonly revision: number;
  readonly plans: readonly Entry<Plan>[];
  readonly pools: readonly Entry<PoolSettings>[];
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

/** The plans and pools of a cluster, and their revision. */
export interface MirroredSet {
  readonly revision: number;
  readonly set: PlanSet;
  /** Undefined in a record of a version of Platen that did not write origins. */
  readonly origins: Origins | undefined;
}

/** The plans and pools of all clusters. */
export interface MirroredPlanSet {
  /** What `PlanMirror.revisions` returns while nothing changes. */
  readonly revisions: string;
  readonly set: PlanSet;
}

/**
 * The plans and pools of the resources of each cluster whose installation uses the database: written by its controller,
 * read by the other roles of all clusters. Where two clusters have a plan or a pool of one name, the last edit counts.
 */
export class PlanMirror {
  readonly #records: Collection<MirrorRecord>;
  readonly #cluster: string;

  /** To be created before the connection's indexes. @param cluster whose record `write` writes and `own` reads. */
  constructor(connection: Connection, cluster = DEFAULT_CLUSTER) {
    this.#records = new Collection<MirrorRecord>(connection, MIRROR);
    this.#cluster = cluster;
  }

  /**
   * Makes the record of the cluster contain exactly these plans and pools. Nothing is written when it does already.
   *
   * @param origins the namespaces that they come from, for a later writer that cannot read all of these namespaces.
   * @returns the revision that contains them.
   * @throws when concurrent writers were faster in every attempt.
   */
  async write(set: PlanSet, origins = NO_ORIGINS): Promise<number> {
    const now = new Date();
    for (let tries = 1; tries <= TRIES; tries += 1) {
      const seen = await this.#records.findById(this.#cluster);
      const wanted = {
        plans: entries(set.plans, seen?.plans, now),
        pools: entries(set.pools, seen?.pools, now),
        origins: { plans: origin(origins.plans), pools: origin(origins.pools) },
      };
      if (seen !== undefined) {
        const { plans, pools } = seen;
        if (isDeepStrictEqual({ plans, pools, origins: seen.origins }, wanted)) return seen.revision;
      }
      const revision = (seen?.revision ?? 0) + 1;
      const written =
        seen === undefined
          ? await this.#records.insertIfAbsent({ _id: this.#cluster, revision, ...wanted })
          : await this.#records.updateOne(
              { _id: this.#cluster, revision: seen.revision },
              { $set: { revision, ...wanted } },
            );
      if (written) return revision;
    }
    throw new Error('The plans were not mirrored: they were written concurrently.');
  }

  /** The plans and pools of the cluster; undefined as long as nothing is mirrored. */
  async own(): Promise<MirroredSet | undefined> {
    const record = await this.#records.findById(this.#cluster);
    if (record === undefined) return undefined;
    const { revision, origins } = record;
    const byName = (list: readonly Origin[]) => new Map(list.map(({ name, namespace }) => [name, namespace]));
    return {
      revision,
      set: setOf([record]),
      origins: origins && { plans: byName(origins.plans), pools: byName(origins.pools) },
    };
  }

  /** The revision of each cluster, without reading the plans; empty as long as nothing is mirrored. */
  async revisions(): Promise<string> {
    return revisionsOf(await this.#records.find({}, { projection: { revision: 1 } }));
  }

  /** The plans and pools of all clusters; undefined as long as nothing is mirrored. */
  async read(): Promise<MirroredPlanSet | undefined> {
    const records = await this.#records.find({});
    return records.length === 0 ? undefined : { revisions: revisionsOf(records), set: setOf(records) };
  }
}

function revisionsOf(records: readonly Pick<MirrorRecord, '_id' | 'revision'>[]): string {
  return records
    .map(({ _id, revision }) => `${_id}:${revision}`)
    .sort()
    .join(' ');
}

function setOf(records: readonly MirrorRecord[]): PlanSet {
  const free = BUILT_IN.plans.get(FREE_PLAN)!;
  const plans = lastOf(records.map(({ plans: entries, origins }) => ({ entries, origins: origins?.plans })));
  const pools = lastOf(records.map(({ pools: entries, origins }) => ({ entries, origins: origins?.pools })));
  // A plan written by an older version may lack a newer field: it takes the value of `free`, as in a plans file.
  const whole = [...plans].map(([name, plan]): [PlanName, Plan] => [
    name,
    { ...free, ...plan, features: { ...free.features, ...plan.features } },
  ]);
  return { plans: inOrder(new Map([[FREE_PLAN, free], ...whole])), pools };
}

/** Of each name the value that was changed last; a built-in plan, which no resource names, only where there is no other. */
function lastOf<T extends object>(
  clusters: readonly {
    readonly entries: readonly Entry<T>[];
    readonly origins: readonly Origin[] | undefined;
  }[],
) {
  const found = clusters.flatMap(({ entries, origins }) => {
    const ofResources = new Set(origins?.map(({ name }) => name));
    return entries.map(({ name, changedAt, ...value }) => ({
      ...{ name, changedAt, value },
      rank: ofResources.has(name) ? 1 : 0,
    }));
  });
  found.sort((a, b) => a.rank - b.rank || a.changedAt.getTime() - b.changedAt.getTime());
  return new Map(found.map(({ name, value }) => [name, value]));
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

/**
 * Sorted by name and without unset fields, so that the same set is always the same record.
 *
 * @param before the entries in the record: of one that has not changed, the time stays.
 */
function entries<T extends object>(
  values: ReadonlyMap<string, T>,
  before: readonly Entry<T>[] = [],
  now: Date,
): Entry<T>[] {
  const known = new Map(before.map((entry) => [entry.name, entry]));
  return [...values]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => {
      const entry = { name, ...(JSON.parse(JSON.stringify(value)) as T), changedAt: now };
      const same = { ...entry, changedAt: known.get(name)?.changedAt ?? now };
      return isDeepStrictEqual(known.get(name), same) ? same : entry;
    });
}
