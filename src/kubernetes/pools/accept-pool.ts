import { keyOf } from '../../infra/kube/client/kube-object.ts';
import { hasReservedName, type Installation } from '../resources/installation.ts';
import type { RenderPool } from '../resources/kinds.ts';
import { type RenderPoolSpec, renderPoolSpecSchema } from '../resources/render-pool.ts';
import type { PoolScaling } from '../scaling/types.ts';

/** Whether a pool is managed, and with which spec; or why not. */
export type Acceptance =
  | { readonly state: 'Valid'; readonly spec: RenderPoolSpec }
  | { readonly state: 'Invalid'; readonly errors: string }
  | { readonly state: 'NameTaken'; readonly by: string }
  | { readonly state: 'NameReserved'; readonly home: string }
  | { readonly state: 'NamespaceUnreadable'; readonly problem: string };

/** The object that holds a pool's name. */
export type NameHolder = Pick<RenderPool, 'metadata'>;

/**
 * Checks a pool's name and spec. The API server has checked the spec against its own definition, which may be another
 * version's.
 *
 * @param holder the object that holds the pool's name.
 */
export function acceptPool(
  pool: RenderPool,
  holder: NameHolder | undefined,
  installation: Installation,
): Acceptance {
  if (hasReservedName(pool, installation)) return { state: 'NameReserved', home: installation.home };
  if (holder !== undefined && holder.metadata.uid !== pool.metadata.uid) {
    return { state: 'NameTaken', by: keyOf(holder.metadata) };
  }
  const parsed = renderPoolSpecSchema.safeParse(pool.spec);
  if (!parsed.success) {
    const errors = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    return { state: 'Invalid', errors: errors.join('; ') };
  }
  const { minReplicas, maxReplicas, mode, replicas } = parsed.data;
  if (minReplicas > maxReplicas)
    return { state: 'Invalid', errors: 'minReplicas is greater than maxReplicas' };
  if (mode === 'Manual' && replicas === undefined) {
    return { state: 'Invalid', errors: 'mode is Manual, and replicas is not set' };
  }
  return { state: 'Valid', spec: parsed.data };
}

/** The pool's sizing, in the autoscaler's terms. */
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
