import type { FleetState, PodState, PoolReading, PoolScaling, ScalingLimit, WorkerReading } from './types.ts';

/** How a pool gets rid of so many pods. */
export interface ShrinkPlan {
  /** Pods that are not there yet or not ready: they go as soon as the replicas do, whoever is marked. */
  readonly notReady: number;
  /** Ready workers that are to be drained, those that are nearest to empty first. */
  readonly victims: readonly WorkerReading[];
  readonly limitedBy?: ScalingLimit;
}

export interface ShrinkOrder {
  /** Pods that are too many. */
  readonly excess: number;
  /** Of them, how many may go now. */
  readonly allowed: number;
  readonly nowMs: number;
}

const NOTHING: ShrinkPlan = { notReady: 0, victims: [] };

/**
 * Who is to go. A ReplicaSet deletes pods that are not ready before it looks at any mark (`ActivePodsWithRanks`), so these
 * are counted off first; while one of them may be starting, or still works, nothing can go.
 */
export function planShrink(
  settings: Pick<PoolScaling, 'workerYoungSeconds'>,
  reading: PoolReading,
  fleet: FleetState,
  { excess, allowed, nowMs }: ShrinkOrder,
): ShrinkPlan {
  if (excess <= 0) return NOTHING;
  const takes = Math.min(excess, allowed);
  const notCreated = Math.max(0, fleet.replicas - fleet.pods.filter(isAlive).length);
  if (takes <= notCreated) return { notReady: takes, victims: [], ...limitOf(takes, takes, excess) };
  const workers = workersByPod(reading);
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
  return { notReady: first, victims, ...limitOf(first + victims.length, takes, excess) };
}

export function isAlive({ phase }: PodState): boolean {
  return phase !== 'terminating';
}

function isNotReady(pod: PodState): boolean {
  return isAlive(pod) && pod.phase !== 'ready';
}

export function workersByPod({ workers }: PoolReading): ReadonlyMap<string, WorkerReading> {
  return new Map(workers.flatMap((worker) => (worker.pod === undefined ? [] : [[worker.pod, worker]])));
}

function obstacleOf(
  notReady: readonly PodState[],
  workers: ReadonlyMap<string, WorkerReading>,
  youngSince: number,
): ScalingLimit | undefined {
  for (const pod of notReady) {
    const worker = workers.get(pod.name);
    if (worker !== undefined && (worker.busy > 0 || worker.state === 'claiming')) return 'WorkersBusy';
    if (pod.phase === 'pending' && pod.createdAt > youngSince) return 'PodsStarting';
  }
  return undefined;
}

function isCandidate({ state, startedAt }: WorkerReading, youngSince: number): boolean {
  return state === 'paused' || (state === 'claiming' && startedAt <= youngSince);
}

/** Those that drain already stay chosen, or each reading would choose others. */
function nearestToEmpty(a: WorkerReading, b: WorkerReading): number {
  const drains = (worker: WorkerReading) => (worker.state === 'paused' ? 0 : 1);
  return drains(a) - drains(b) || a.busy - b.busy || a.startedAt - b.startedAt || (a.id < b.id ? -1 : 1);
}

function limitOf(found: number, takes: number, excess: number): { limitedBy?: ScalingLimit } {
  if (found < takes) return { limitedBy: 'WorkersYoung' };
  return takes < excess ? { limitedBy: 'ScaleDownRate' } : {};
}
