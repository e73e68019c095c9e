import type { Cluster, SimulatedPod } from '../cluster.ts';
import type { Trace } from '../traces.ts';
import { defaultBehaviour, HPA_SYNC_MS, HpaStabiliser, perPodRecommendation } from './hpa.ts';
import { CPU_DEFAULTS, type CpuPod, cpuRecommendation } from './hpa-cpu.ts';
import { boundedLag, Keda, type ScaledObject } from './keda.ts';
import { KPA_PANIC_WINDOW_MS, KPA_TICK_MS, KpaDecider, kpaDefaults, WindowAverage } from './knative.ts';
import { Oracle } from './oracle.ts';
import type { Scaler, ScalerOptions } from './scaler.ts';
import { SquareRoot } from './square-root.ts';

/** Partitions of one of Platen's topics as it makes them. */
export const PARTITIONS = 12;

/** HPA on the demand metric, with a target for each pod. */
class HpaOnDemand implements Scaler {
  readonly name = 'HPA on demand';
  readonly everyMs = HPA_SYNC_MS;
  readonly #hpa: HpaStabiliser;
  readonly #target: number;

  constructor({ maxReplicas, slotsPerWorker }: ScalerOptions) {
    this.#hpa = new HpaStabiliser(defaultBehaviour(maxReplicas));
    this.#target = slotsPerWorker;
  }

  tick(cluster: Cluster, nowMs: number): void {
    const recommended = perPodRecommendation(cluster.demand, this.#target, cluster.replicas);
    cluster.scaleTo(this.#hpa.next(cluster.replicas, recommended, nowMs));
  }
}

/** HPA on CPU; a worker whose slots are all in use uses what it requests. */
class HpaOnCpu implements Scaler {
  readonly name = 'HPA on CPU';
  readonly everyMs = HPA_SYNC_MS;
  readonly #hpa: HpaStabiliser;
  #scraped = new Map<SimulatedPod, number>();

  constructor({ maxReplicas }: ScalerOptions) {
    this.#hpa = new HpaStabiliser(defaultBehaviour(maxReplicas));
  }

  tick(cluster: Cluster, nowMs: number): void {
    const before = this.#scraped;
    this.#scraped = new Map(cluster.alivePods.map((pod) => [pod, cluster.busyMs(pod)]));
    const pods = cluster.alivePods.map((pod) => this.#observe(cluster, pod, before.get(pod), nowMs));
    const recommended = cpuRecommendation(pods, cluster.replicas, CPU_DEFAULTS, nowMs) ?? cluster.replicas;
    cluster.scaleTo(this.#hpa.next(cluster.replicas, recommended, nowMs));
  }

  #observe(cluster: Cluster, pod: SimulatedPod, before: number | undefined, nowMs: number): CpuPod {
    const ready = pod.phase === 'ready';
    const known = {
      startTime: pod.createdAt,
      ready,
      readyTransition: Number.isNaN(pod.readyAt) ? pod.createdAt : pod.readyAt,
    };
    if (before === undefined || pod.lostAt !== undefined) return known;
    const usage = (cluster.busyMs(pod) - before) / (HPA_SYNC_MS * cluster.slotsPerWorker);
    return { ...known, sample: { usage, at: nowMs, windowMs: HPA_SYNC_MS } };
  }
}

/** Knative on the jobs that have a slot, running or not yet claimed. */
class Knative implements Scaler {
  readonly name = 'Knative KPA';
  readonly everyMs = KPA_TICK_MS;
  readonly #settings;
  readonly #maxReplicas: number;
  readonly #stable: WindowAverage;
  readonly #panic = new WindowAverage(KPA_PANIC_WINDOW_MS);
  #decider: KpaDecider | undefined;

  constructor({ maxReplicas, slotsPerWorker }: ScalerOptions) {
    this.#settings = kpaDefaults(slotsPerWorker);
    this.#maxReplicas = maxReplicas;
    this.#stable = new WindowAverage(this.#settings.stableWindowMs);
  }

  tick(cluster: Cluster, nowMs: number): void {
    this.#decider ??= new KpaDecider(this.#settings, cluster.readyPods, nowMs);
    const stable = this.#stable.note(cluster.demand, nowMs);
    const panic = this.#panic.note(cluster.demand, nowMs);
    const desired = this.#decider.desired(stable, panic, cluster.readyPods, nowMs);
    cluster.scaleTo(Math.min(this.#maxReplicas, this.#decider.afterGrace(desired, nowMs)));
  }
}

/** Jobs in a topic that all accepted jobs are in until they have ended, as of a service without plan slots. */
const lagOfAll = (cluster: Cluster) => cluster.accounts.open;
/** Pointers in Platen's own topics: dispatched, and not claimed yet. */
const lagOfPlaten = (cluster: Cluster) => cluster.ready.length;

/** KEDA as it comes, and as somebody who knows it would set it up. */
function scaledObjects(slots: number): ScaledObject[] {
  const asItComes = { pollingIntervalMs: 30_000, cooldownPeriodMs: 300_000, threshold: 10 };
  const tuned = {
    pollingIntervalMs: 5000,
    cooldownPeriodMs: 60_000,
    stabilisationSeconds: 60,
    threshold: slots,
  };
  const bounded = (lag: number) => boundedLag(lag, asItComes.threshold, PARTITIONS);
  return [
    { name: 'KEDA on lag', ...asItComes, metric: (cluster) => bounded(lagOfAll(cluster)) },
    { name: 'KEDA on lag, tuned', ...tuned, metric: lagOfAll },
    { name: 'KEDA on lag of pointers', ...asItComes, metric: (cluster) => bounded(lagOfPlaten(cluster)) },
    { name: 'KEDA on lag of pointers, tuned', ...tuned, metric: lagOfPlaten },
    { name: 'KEDA on demand', ...tuned, metric: (cluster) => cluster.demand },
    { name: 'KEDA on demand, 80 %', ...tuned, threshold: slots * 0.8, metric: (cluster) => cluster.demand },
  ];
}

export function baselines(trace: Trace, demand: Uint32Array, options: ScalerOptions): Scaler[] {
  return [
    new HpaOnDemand(options),
    new HpaOnCpu(options),
    ...scaledObjects(options.slotsPerWorker).map((object) => new Keda(object, options)),
    new Knative(options),
    new SquareRoot(1, options),
    new SquareRoot(2, options),
    new Oracle(trace, demand, options),
  ];
}
