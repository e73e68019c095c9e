import type { PoolSettings } from '../../plans/plan-source.ts';
import { findCondition } from '../client/conditions.ts';
import type { RenderPool } from '../resources/kinds.ts';
import { holdersOfNames } from '../resources/names-taken.ts';
import { acceptPool } from './accept-pool.ts';

/**
 * The pools that have workers, or get some: those that plans can name. One whose spec has become invalid has kept its workers;
 * one that is being deleted loses them.
 */
export function poolsInForce(pools: Iterable<RenderPool>): ReadonlyMap<string, PoolSettings> {
  const inForce = new Map<string, PoolSettings>();
  for (const [name, pool] of holdersOfNames(pools)) {
    if (pool.metadata.deletionTimestamp !== undefined) continue;
    const acceptance = acceptPool(pool, pool);
    const hadWorkers = findCondition(pool.status?.conditions, 'WorkersApplied') !== undefined;
    const { slotsPerWorker } = acceptance.state === 'Valid' ? acceptance.spec : pool.spec;
    if (acceptance.state === 'Valid' || (hadWorkers && Number.isInteger(slotsPerWorker))) {
      inForce.set(name, { slotsPerWorker });
    }
  }
  return inForce;
}
