import { decide, startState } from '../../../../src/kubernetes/scaling/autoscaler.ts';
import type {
  AutoscalerState,
  Decision,
  FleetState,
  PodState,
  PoolSample,
  PoolScaling,
  WorkerSample,
} from '../../../../src/kubernetes/scaling/types.ts';

export const MINUTE = 60_000;

/** Plain numbers, so that expected values can be worked out by head: four slots, all to be used, one free. */
export function settings(changes: Partial<PoolScaling> = {}): PoolScaling {
  return {
    minReplicas: 0,
    maxReplicas: 100,
    slotsPerWorker: 4,
    targetUtilisation: 1,
    headroomSlots: 0,
    maxPendingPods: 50,
    fallbackReplicas: 2,
    scaleDown: { stabilisationSeconds: 60, maxPercent: 100, periodSeconds: 60 },
    workerYoungSeconds: 30,
    paused: false,
    ...changes,
  };
}

export function worker(number: number, changes: Partial<WorkerSample> = {}): WorkerSample {
  return { id: `w${number}`, pod: `pod${number}`, busy: 0, startedAt: 0, state: 'claiming', ...changes };
}

export function pod(number: number, changes: Partial<PodState> = {}): PodState {
  return { name: `pod${number}`, phase: 'ready', createdAt: 0, marked: false, ...changes };
}

export function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

/** A pool under decisions: its state is kept until it is changed. */
export class DecidedPool {
  nowMs = 10 * MINUTE;
  scaling: PoolScaling;
  workers: WorkerSample[];
  fleet: FleetState;
  demand = 0;
  readable = true;
  /** How old the reading is. */
  ageMs = 0;
  #state: AutoscalerState;

  constructor(replicas: number, scaling: Partial<PoolScaling> = {}) {
    this.scaling = settings(scaling);
    this.workers = numbers(replicas).map((number) => worker(number));
    this.fleet = { replicas, pods: numbers(replicas).map((number) => pod(number)), rolling: false };
    this.#state = startState(this.nowMs);
  }

  decide(): Decision {
    const { demand, workers } = this;
    const live = workers.filter(({ state }) => state !== 'ending');
    const inFlightOnLive = live.reduce((sum, { busy }) => sum + busy, 0);
    const sample: PoolSample = { at: this.nowMs - this.ageMs, demand, inFlightOnLive, workers };
    const { state, decision } = decide(
      this.scaling,
      this.#state,
      this.readable ? sample : undefined,
      this.fleet,
      this.nowMs,
    );
    this.#state = state;
    return decision;
  }

  /** Decides every second for `ms` milliseconds, and returns the last decision. */
  after(ms: number): Decision {
    let decision = this.decide();
    for (const end = this.nowMs + ms; this.nowMs < end; ) {
      this.nowMs += 1000;
      decision = this.decide();
    }
    return decision;
  }

  change(number: number, changes: Partial<WorkerSample>): void {
    this.workers = this.workers.map((its) => (its.id === `w${number}` ? { ...its, ...changes } : its));
  }

  changePod(number: number, changes: Partial<PodState>): void {
    const pods = this.fleet.pods.map((its) => (its.name === `pod${number}` ? { ...its, ...changes } : its));
    this.fleet = { ...this.fleet, pods };
  }
}
