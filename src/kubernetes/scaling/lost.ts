import { type FleetState, type PodState, type PoolReading, SILENT_AFTER_MS } from './types.ts';
import { workersByPod } from './victims.ts';

/** The ready pods whose workers are not seen, each with when it was missed first. */
export function silentPods(
  reading: PoolReading,
  fleet: FleetState,
  before: ReadonlyMap<string, number>,
  nowMs: number,
): ReadonlyMap<string, number> {
  const workers = workersByPod(reading);
  const silent = fleet.pods.filter(({ name, phase }) => phase === 'ready' && !workers.has(name));
  return new Map(silent.map(({ name }) => [name, before.get(name) ?? nowMs]));
}

/**
 * Pods that stopped working with their nodes: they count as replicas and run nothing. Kubernetes says so after 50 s; where
 * workers have been silent for long enough it is assumed sooner. Of a node of which nobody is heard any more, everything that
 * was bound to it is lost: the scheduler may have put there what was to come in its place.
 *
 * While nobody at all is heard of, nodes are not what is wrong: then only what Kubernetes says counts.
 */
export function lostPods(
  reading: PoolReading,
  fleet: FleetState,
  silentSince: ReadonlyMap<string, number>,
  nowMs: number,
): number {
  const workers = workersByPod(reading);
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
