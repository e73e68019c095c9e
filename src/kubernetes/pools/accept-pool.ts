import { keyOf } from '../client/kube-object.ts';
import type { RenderPool } from '../resources/kinds.ts';
import { type RenderPoolSpec, renderPoolSpecSchema } from '../resources/render-pool.ts';
import type { PoolScaling } from '../scaling/types.ts';

/** Whether a pool is looked after, and as what. */
export type Acceptance =
  | { readonly state: 'Valid'; readonly spec: RenderPoolSpec }
  | { readonly state: 'Invalid'; readonly faults: string }
  | { readonly state: 'NameTaken'; readonly by: string }
  | { readonly state: 'NamespaceUnreadable'; readonly problem: string };

/** What is known of the object that has a pool's name. */
export type NameHolder = Pick<RenderPool, 'metadata'>;

/**
 * @param holder of the pool's name. The API server has checked the spec against the definition that it has; that may be
 *   another version's.
 */
export function acceptPool(pool: RenderPool, holder: NameHolder | undefined): Acceptance {
  if (holder !== undefined && holder.metadata.uid !== pool.metadata.uid) {
    return { state: 'NameTaken', by: keyOf(holder.metadata) };
  }
  const parsed = renderPoolSpecSchema.safeParse(pool.spec);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    return { state: 'Invalid', faults: faults.join('; ') };
  }
  const { minReplicas, maxReplicas, mode, replicas } = parsed.data;
  if (minReplicas > maxReplicas)
    return { state: 'Invalid', faults: 'minReplicas is greater than maxReplicas' };
  if (mode === 'Manual' && replicas === undefined) {
    return { state: 'Invalid', faults: 'mode is Manual, and replicas is not set' };
  }
  return { state: 'Valid', spec: parsed.data };
}

/** Workers that a pool may have: in the mode Manual, those that somebody asks for, whatever maxReplicas says. */
export function mostWorkers({
  mode,
  replicas = 0,
  maxReplicas,
}: Pick<RenderPoolSpec, 'mode' | 'replicas' | 'maxReplicas'>): number {
  return mode === 'Manual' ? Math.max(replicas, maxReplicas) : maxReplicas;
}

/** How the pool is to be sized, as the autoscaler is told. */
export function scalingOf(spec: RenderPoolSpec): PoolScaling {
  const { mode, replicas, targetUtilisation } = spec;
  return {
    minReplicas: spec.minReplicas,
    maxReplicas: spec.maxReplicas,
    slotsPerWorker: spec.slotsPerWorker,
    targetUtilisation: targetUtilisation / 100,
    headroomSlots: spec.headroomSlots,
    maxPendingPods: spec.maxPendingPods,
    fallbackReplicas: spec.fallbackReplicas,
    scaleDown: spec.scaleDown,
    workerYoungSeconds: spec.workerYoungSeconds,
    paused: spec.paused,
    ...(mode === 'Manual' && replicas !== undefined && { manualReplicas: replicas }),
  };
}
