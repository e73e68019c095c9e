import { renderPoolSpecSchema } from '../../src/kubernetes/resources/render-pool.ts';
import type { PoolScaling } from '../../src/kubernetes/scaling/types.ts';

const spec = renderPoolSpecSchema.parse({ minReplicas: 0, maxReplicas: 100, slotsPerWorker: 4 });

/** The pool of the simulation: a RenderPool of four slots a worker that may go to zero, and else by default. */
export const POOL: PoolScaling = { ...spec, targetUtilisation: spec.targetUtilisation / 100 };
