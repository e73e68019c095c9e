import type { FleetState, PodState, PoolSample, PoolScaling, ScalingLimit, WorkerSample } from './types.ts';

/** How a pool removes the pods that are too many. */
export interface ShrinkPlan {
  /** Pods that do not exist yet or are not ready: they go as soon as the replicas do, whichever are marked. */
  readonly notReady: number;
  /** Ready workers that are to be drained, the nearest to empty first. */
  readonly victims: readonly WorkerSample[];
  readonly limitedBy?: ScalingLimit;
}

interface ShrinkRequest {
  /** Pods that are too many. */
  readonly surplus: number;
  /** The number of them that may go now. */
  readonly allowed: number;
  readonly nowMs: number;
}

const NOTHING: ShrinkPlan = { notReady: 0, victims: [] };

/**
 * Chooses the workers to remove. A ReplicaSet deletes pods that are not ready before it compares deletion costs
 * (`ActivePodsWithRanks`), so these are counted first; while one of them may be starting, or still works, nothing can
 * go.
 */
export function planShrink(
  settings: Pick<PoolScaling, 'workerYoungSeconds'>,
  sample: PoolSample,
  fleet: FleetState,
  { surplus, allowed, nowMs }: ShrinkRequest,
): ShrinkPlan {
  if (surplus <= 0) return NOTHING;
  const takes = Math.min(surplus, allowed);
  const notCreated = Math.max(0, fleet.replicas - fleet.pods.filter(isAlive).length);
  if (takes <= notCreated) return { notReady: takes, victims: [], ...limitOf(takes, takes, surplus) };
  const workers = workersByPod(sample);
  const youngSince = nowMs - settings.workerYoungSeconds * 1000;
  const notReady = fleet.pods.filter(isNotReady);
  const obstacle = obstacleOf(notReady, workers, youngSince);
  if (obstacle !== undefined) return { notReady: notCreated, victims: [], limitedBy: obstacle };

  const first = Math.min(takes, notCreated + notReady.length);
  const candidates = fleet.pods
    .filter(({ phase }) => phase === 'ready')
    .flatMap(({ name }) => workers.get(name) ?? [])
    .filter((worker) => isCandidate(worker, youngSince))
    .sort(nearestToEmpty);
  const victims = candidates.slice(0, takes - first);
  return { notReady: first, victims, ...limitOf(first + victims.length, takes, surplus) };
}

export function isAlive({ phase }: PodState): boolean {
  return phase !== 'terminating';
}

function isNotReady(pod: PodState): boolean {
  return isAlive(pod) && pod.phase !== 'ready';
}

export function workersByPod({ workers }: PoolSample): ReadonlyMap<string, WorkerSample> {
  return new Map(workers.flatMap((worker) => (worker.pod === undefined ? [] : [[worker.pod, worker]])));
}

function obstacleOf(
  notReady: readonly PodState[],
  workers: ReadonlyMap<string, WorkerSample>,
  youngSince: number,
): ScalingLimit | undefined {
  for (const pod of notReady) {
    const worker = workers.get(pod.name);
    if (worker !== undefined && (worker.busy > 0 || worker.state === 'claiming')) return 'WorkersBusy';
    if (pod.phase === 'pending' && pod.createdAt > youngSince) return 'PodsStarting';
  }
  return undefined;
}

function isCandidate({ state, startedAt }: WorkerSample, youngSince: number): boolean {
  return state === 'paused' || (state === 'claiming' && startedAt <= youngSince);
}

/** Workers that drain already stay chosen, or each sample would choose others. */
function nearestToEmpty(a: WorkerSample, b: WorkerSample): number {
  const drains = (worker: WorkerSample) => (worker.state === 'paused' ? 0 : 1);
  return drains(a) - drains(b) || a.busy - b.busy || a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1);
}

function limitOf(found: number, takes: number, surplus: number): { limitedBy?: ScalingLimit } {
  if (found < takes) return { limitedBy: 'WorkersYoung' };
  return takes < surplus ? { limitedBy: 'ScaleDownRate' } : {};
}
