import { type FleetState, type PodState, type PoolSample, SILENT_AFTER_MS } from './types.ts';
import { workersByPod } from './victims.ts';

/** The ready pods whose workers are not seen, each with the time when it was first missed. */
export function silentPods(
  sample: PoolSample,
  fleet: FleetState,
  before: ReadonlyMap<string, number>,
  nowMs: number,
): ReadonlyMap<string, number> {
  const workers = workersByPod(sample);
  const silent = fleet.pods.filter(({ name, phase }) => phase === 'ready' && !workers.has(name));
  return new Map(silent.map(({ name }) => [name, before.get(name) ?? nowMs]));
}

/**
 * Pods that stopped with their nodes: they count as replicas and run nothing. Kubernetes reports that after 50 s; where
 * workers have been silent for long enough it is assumed sooner. On a node whose workers are all silent, everything
 * that was bound to it is lost: the scheduler may have put the replacements there.
 *
 * While no worker at all is heard, the nodes are not the cause: then only what Kubernetes reports counts.
 */
export function lostPods(
  sample: PoolSample,
  fleet: FleetState,
  silentSince: ReadonlyMap<string, number>,
  nowMs: number,
): number {
  const workers = workersByPod(sample);
  const ready = fleet.pods.filter(({ phase }) => phase === 'ready').length;
  const mayBeNodes = silentSince.size < ready || silentSince.size === 1;
  const hasStopped = ({ name, phase }: PodState) => {
    if (phase === 'unreachable') return !workers.has(name);
    const since = phase === 'ready' ? silentSince.get(name) : undefined;
    return mayBeNodes && since !== undefined && nowMs - since >= SILENT_AFTER_MS;
  };
  const started = fleet.pods.filter(({ phase }) => phase === 'ready' || phase === 'unreachable');
  const alive = new Set(started.filter((pod) => !hasStopped(pod)).map(({ node }) => node));
  const stopped = new Set(started.filter(hasStopped).map(({ node }) => node));
  return fleet.pods.filter((pod) => {
    if (pod.phase === 'unreachable') return hasStopped(pod);
    return pod.phase !== 'terminating' && stopped.has(pod.node) && !alive.has(pod.node);
  }).length;
}
