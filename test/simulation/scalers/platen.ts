import { decide, startState } from '../../../src/kubernetes/scaling/autoscaler.ts';
import type {
  AutoscalerState,
  FleetState,
  PoolSample,
  PoolScaling,
  WorkerSample,
} from '../../../src/kubernetes/scaling/types.ts';
import type { Cluster, SimulatedPod } from '../cluster.ts';
import type { Scaler } from './scaler.ts';

/** The autoscaler of Platen itself, told what the controller would be told, and as late. */
export class Platen implements Scaler {
  readonly name: string;
  readonly everyMs: number;
  readonly #settings: PoolScaling;
  #state: AutoscalerState = startState(0);
  /** Of one tick ago: what is read is old by the time it is acted on. */
  #sample: PoolSample | undefined;

  constructor(settings: PoolScaling, name = 'Platen', everyMs = 2000) {
    this.everyMs = everyMs;
    this.#settings = settings;
    this.name = name;
  }

  tick(cluster: Cluster, nowMs: number): void {
    const { state, decision } = decide(this.#settings, this.#state, this.#sample, fleetOf(cluster), nowMs);
    this.#state = state;
    this.#sample = sampleOf(cluster, nowMs);
    const byName = new Map(cluster.pods.map((pod) => [pod.name, pod]));
    for (const id of decision.pause)
      if (byName.get(id)?.state === 'claiming') cluster.requestPause(byName.get(id)!, true);
    for (const id of decision.resume) if (byName.has(id)) cluster.requestPause(byName.get(id)!, false);
    const victims = new Set(decision.remove);
    for (const pod of cluster.pods) {
      if (pod.marked !== victims.has(pod.name)) cluster.mark(pod, victims.has(pod.name));
    }
    cluster.scaleTo(decision.desired);
  }
}

function fleetOf(cluster: Cluster): FleetState {
  return { replicas: cluster.replicas, pods: cluster.pods, rolling: false };
}

function sampleOf(cluster: Cluster, nowMs: number): PoolSample {
  const workers = cluster.pods.filter((pod) => cluster.isSeen(pod)).map(workerOf);
  const live = workers.filter(({ state }) => state !== 'ending');
  const terminating = workers.filter(({ state }) => state === 'ending');
  return {
    at: nowMs,
    demand: cluster.demand - terminating.reduce((sum, { busy }) => sum + busy, 0),
    inFlightOnLive: live.reduce((sum, { busy }) => sum + busy, 0),
    workers,
  };
}

function workerOf({ name, running, readyAt, state }: SimulatedPod): WorkerSample {
  return { id: name, pod: name, busy: running.size, startedAt: readyAt, state: state ?? 'starting' };
}
