import { findCondition } from '../../infra/kube/client/conditions.ts';
import type { PoolSettings } from '../../tenants/plans/plan-source.ts';
import { type HeldNames, isHeld, NOTHING_HELD } from '../held-names.ts';
import type { Installation } from '../resources/installation.ts';
import type { RenderPool } from '../resources/kinds.ts';
import { holdersOfNames } from '../resources/names-taken.ts';
import { acceptPool } from './accept-pool.ts';

/** Pools that plans can name, and the namespace of each by name. */
export interface PoolsInForce {
  readonly pools: ReadonlyMap<string, PoolSettings>;
  readonly origins: ReadonlyMap<string, string>;
}

/**
 * The pools that have workers, or get some: those are the pools that plans can name. A pool whose spec has become
 * invalid has kept its workers; one that is being deleted loses them.
 *
 * @param pools those that the installation manages.
 * @param held pools that stay as they are mirrored, since their namespaces have not been read yet.
 */
export function poolsInForce(
  pools: Iterable<RenderPool>,
  installation: Installation,
  held: HeldNames['pools'] = NOTHING_HELD.pools,
): PoolsInForce {
  const inForce = new Map<string, PoolSettings>();
  const origins = new Map<string, string>();
  const holders = holdersOfNames(pools, installation);
  for (const [name, { value, namespace }] of held) {
    if (!isHeld(held.get(name), holders.has(name))) continue;
    inForce.set(name, value);
    origins.set(name, namespace);
  }
  for (const [name, pool] of holders) {
    if (inForce.has(name) || pool.metadata.deletionTimestamp !== undefined) continue;
    const acceptance = acceptPool(pool, pool, installation);
    const hadWorkers = findCondition(pool.status?.conditions, 'WorkersApplied') !== undefined;
    const isValid = acceptance.state === 'Valid';
    const { slotsPerWorker } = isValid ? acceptance.spec : pool.spec;
    if (isValid || (hadWorkers && Number.isInteger(slotsPerWorker))) {
      inForce.set(name, { slotsPerWorker });
      origins.set(name, pool.metadata.namespace ?? '');
    }
  }
  return { pools: inForce, origins };
}
