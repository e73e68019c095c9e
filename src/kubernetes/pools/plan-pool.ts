import type { ResourceEvent } from '../resources/condition-list.ts';
import type { Deployment, Pod } from '../resources/kinds.ts';
import type { RenderPoolSpec } from '../resources/render-pool.ts';
import { decide, startState } from '../scaling/autoscaler.ts';
import type { AutoscalerState, Decision, FleetState, PoolSample } from '../scaling/types.ts';
import { scalingOf } from './accept-pool.ts';
import { type Contest, nextContest } from './contest.ts';
import { fleetOf } from './fleet.ts';
import { costWritersOf, foreignReplicasWriters } from './foreign-writers.ts';
import { DELETION_COST } from './labels.ts';
import { beginShrinkCheck, checkShrink, type ShrinkCheck } from './shrink-check.ts';

/** A pool as it is observed at one moment. */
export interface ObservedPool {
  readonly name: string;
  readonly spec: RenderPoolSpec;
  readonly deployment: Deployment | undefined;
  readonly pods: readonly Pod[];
  readonly sample: PoolSample | undefined;
}

/** State that one reconciliation passes to the next. A new leader begins with `startMemory`. */
export interface PoolMemory {
  readonly autoscaler: AutoscalerState;
  readonly shrink: ShrinkCheck | undefined;
  readonly contest: Contest | undefined;
}

/** The steps for a pool now. */
export interface PoolPlan {
  /** `spec.replicas` to apply: the live value where nothing changes. */
  readonly replicas: number;
  readonly decision: Decision;
  readonly fleet: FleetState;
  readonly pause: readonly string[];
  readonly resume: readonly string[];
  readonly mark: readonly string[];
  readonly unmark: readonly string[];
  /** Workers that died instead of chosen ones. */
  readonly wrongVictims: readonly string[];
  readonly events: readonly ResourceEvent[];
  /** Nothing is under way: until an event comes, an occasional reconciliation is enough. */
  readonly settled: boolean;
  readonly memory: PoolMemory;
  /** Kept in the memory once the replicas have gone down. */
  readonly shrink?: ShrinkCheck;
}

export function startMemory(nowMs: number): PoolMemory {
  return { autoscaler: startState(nowMs), shrink: undefined, contest: undefined };
}

/** Pure: from the observed state to the plan. @param nowMs milliseconds since the epoch. */
export function planPool(observed: ObservedPool, memory: PoolMemory, nowMs: number): PoolPlan {
  const { name, spec, deployment, pods, sample } = observed;
  const fleet = fleetOf(name, deployment, pods);
  const { state, decision } = decide(scalingOf(spec), memory.autoscaler, sample, fleet, nowMs);
  const writers = deployment === undefined ? [] : foreignReplicasWriters(deployment);
  const contest = nextContest(memory.contest, writers, nowMs);
  const yields = contest !== undefined && nowMs < contest.yieldUntilMs;
  const replicas = yields ? fleet.replicas : decision.desired;

  const victims = podsOf(decision.remove, sample);
  const shrinking = replicas < fleet.replicas;
  const { check, wrong } = checkShrink(memory.shrink, pods, nowMs);
  const begins = shrinking ? beginShrinkCheck(pods, victims, fleet.replicas - replicas, nowMs) : undefined;
  return {
    replicas,
    decision,
    fleet,
    pause: decision.pause,
    resume: decision.resume,
    ...marks(pods, victims),
    wrongVictims: wrong,
    events: [...scaleEvents(replicas, fleet.replicas, decision, deployment), ...wrong.map(wrongVictimEvent)],
    settled: isSettled(decision, replicas, fleet) && state.silentSince.size === 0 && check === undefined,
    memory: { autoscaler: state, shrink: check, contest },
    ...(begins && { shrink: begins }),
  };
}

function podsOf(workers: readonly string[], sample: PoolSample | undefined): ReadonlySet<string> {
  const ids = new Set(workers);
  const pods = (sample?.workers ?? []).flatMap(({ id, pod }) =>
    ids.has(id) && pod !== undefined ? [pod] : [],
  );
  return new Set(pods);
}

/** Exactly the victims carry the cost; a cost that another client has written is left alone. */
function marks(pods: readonly Pod[], victims: ReadonlySet<string>) {
  const alive = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const own = alive.filter((pod) => costWritersOf(pod).length === 0).map(({ metadata }) => metadata);
  const isMarked = (pod: Pod['metadata']) => pod.annotations?.[DELETION_COST] !== undefined;
  return {
    mark: own.filter((pod) => victims.has(pod.name) && !isMarked(pod)).map(({ name }) => name),
    unmark: own.filter((pod) => !victims.has(pod.name) && isMarked(pod)).map(({ name }) => name),
  };
}

function scaleEvents(
  replicas: number,
  live: number,
  { reason }: Decision,
  deployment: Deployment | undefined,
): ResourceEvent[] {
  if (deployment === undefined || replicas === live) return [];
  if (reason === 'Fallback') {
    return [{ reason: 'Fallback', note: `The demand is not known: from ${live} to ${replicas} workers.` }];
  }
  return replicas > live
    ? [{ reason: 'ScaledUp', note: `From ${live} to ${replicas} workers.` }]
    : [{ reason: 'ScaledDown', note: `From ${live} to ${replicas} workers, by such as were empty.` }];
}

function wrongVictimEvent(pod: string): ResourceEvent {
  return { reason: 'WrongVictim', note: `${pod} has ended in the place of a worker that was chosen.` };
}

/** Whether time alone will change nothing soon. */
function isSettled(decision: Decision, replicas: number, fleet: FleetState): boolean {
  const inOrder = fleet.pods.length === replicas && fleet.pods.every(({ phase }) => phase === 'ready');
  return inOrder && decision.desired === fleet.replicas && decision.limitedBy === undefined;
}
