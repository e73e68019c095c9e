import { lostPods, silentPods } from './lost.ts';
import {
  type AutoscalerState,
  type Decision,
  FALLBACK_AFTER_MS,
  type FleetState,
  type HoldReason,
  MARK_SETTLED_MS,
  type PodState,
  type PoolSample,
  type PoolScaling,
  SAMPLE_VALID_MS,
  type ScalingLimit,
  type WorkerSample,
} from './types.ts';
import { isAlive, planShrink, type ShrinkPlan } from './victims.ts';
import { wantedReplicas } from './want.ts';
import { largestWanted, noteWanted, shrinkAllowance, shrinksWithin } from './windows.ts';

/** What a decision is made of, besides the state. */
interface Moment {
  readonly settings: PoolScaling;
  readonly sample: PoolSample;
  readonly fleet: FleetState;
  readonly nowMs: number;
}

/** Replicas that the demand asks for, and those that are to be. */
interface Wanted {
  readonly want: number;
  readonly target: number;
}

interface Decided {
  readonly state: AutoscalerState;
  readonly decision: Decision;
}

/** The state of a new leader. The first sample seeds its window with the present replicas. */
export function startState(nowMs: number): AutoscalerState {
  return { wanted: [], shrinks: [], markedSince: new Map(), silentSince: new Map(), readableAt: nowMs };
}

/**
 * Decides how large a pool is to be now, and which workers are to go when that is less than it has.
 *
 * Pure: the same arguments give the same decision. To be called every second or two, and whenever a sample, a pod or
 * the pool's spec changes; more calls change nothing but the moment.
 *
 * @param sample undefined when it cannot be read. One that is too old counts as none.
 * @param nowMs on the clock of `sample.at`.
 */
export function decide(
  settings: PoolScaling,
  state: AutoscalerState,
  sample: PoolSample | undefined,
  fleet: FleetState,
  nowMs: number,
): Decided {
  const hold = holdReason(settings, sample, nowMs);
  if (sample === undefined || hold !== undefined)
    return held({ settings, sample, fleet, nowMs }, state, hold ?? 'NoReading');

  const seeded = seedAfterGap(state, fleet, nowMs);
  const want = settings.manualReplicas ?? wantedReplicas(settings, sample);
  const { stabilisationSeconds, periodSeconds } = settings.scaleDown;
  const wanted = noteWanted(seeded.wanted, bounded(settings, want), stabilisationSeconds, nowMs);
  const shrinks = shrinksWithin(seeded.shrinks, periodSeconds, nowMs);
  const silentSince = silentPods(sample, fleet, seeded.silentSince, nowMs);
  const lost = lostPods(sample, fleet, silentSince, nowMs);
  const target = targetOf(settings, want, largestWanted(wanted), lost);
  const next = { ...seeded, wanted, shrinks, silentSince, readableAt: nowMs };
  const moment = { settings, sample, fleet, nowMs };
  return (target > fleet.replicas ? raised : shrunk)(moment, next, { want, target });
}

function holdReason(
  settings: PoolScaling,
  sample: PoolSample | undefined,
  nowMs: number,
): HoldReason | undefined {
  if (settings.paused) return 'Paused';
  if (sample === undefined) return 'NoReading';
  return nowMs - sample.at > SAMPLE_VALID_MS ? 'StaleReading' : undefined;
}

/**
 * Takes nothing away, whatever was begun. In maintenance, draining workers resume. Without a sample, workers cannot be
 * distinguished, so requests stay as they are. A size that the spec names (a minimum, a manual size) still applies.
 */
function held(
  { settings, sample, fleet, nowMs }: Omit<Moment, 'sample'> & { readonly sample: PoolSample | undefined },
  state: AutoscalerState,
  hold: HoldReason,
): Decided {
  const drained = pausedWorkers(sample);
  const quiet = { want: undefined, hold, pause: [], remove: [] };
  const next = { ...state, markedSince: new Map(), silentSince: new Map() };
  if (hold === 'Paused') {
    return { state: next, decision: { ...quiet, desired: fleet.replicas, reason: 'Held', resume: drained } };
  }
  const requested = settings.manualReplicas ?? settings.minReplicas;
  const mayFallBack =
    settings.manualReplicas === undefined &&
    fleet.replicas === 0 &&
    nowMs - state.readableAt >= FALLBACK_AFTER_MS;
  const fallback = mayFallBack ? Math.min(settings.fallbackReplicas, settings.maxReplicas) : 0;
  const desired = Math.max(fleet.replicas, requested, fallback);
  const reason = fallback > Math.max(fleet.replicas, requested) ? 'Fallback' : 'Held';
  return { state: next, decision: { ...quiet, desired, reason, resume: [] } };
}

/** After a start or a gap, the sizes wanted meanwhile are not known: the present size stands in for them. */
function seedAfterGap(state: AutoscalerState, fleet: FleetState, nowMs: number): AutoscalerState {
  const unbroken = state.wanted.length > 0 && nowMs - state.readableAt <= SAMPLE_VALID_MS;
  return unbroken ? state : { ...state, wanted: [{ at: nowMs, replicas: fleet.replicas }] };
}

/** A manual size applies at once; otherwise the largest of the window, with replacements for lost pods. */
function targetOf(settings: PoolScaling, want: number, largest: number, lost: number): number {
  if (settings.manualReplicas !== undefined) return want;
  return bounded(settings, largest + lost);
}

function bounded(settings: PoolScaling, replicas: number): number {
  if (settings.manualReplicas !== undefined) return replicas;
  return Math.min(settings.maxReplicas, Math.max(settings.minReplicas, replicas));
}

/** Raises at once, up to the bound on pending pods. Workers that were to go resume. */
function raised(moment: Moment, state: AutoscalerState, { want, target }: Wanted): Decided {
  const { settings, sample, fleet } = moment;
  const arrived = fleet.pods.filter(({ phase }) => phase === 'ready' || phase === 'unreachable').length;
  const desired = Math.max(fleet.replicas, Math.min(target, arrived + settings.maxPendingPods));
  const limitedBy: ScalingLimit | undefined =
    desired < target ? 'MaxPendingPods' : aboveMaximum(settings, want) ? 'MaxReplicas' : undefined;
  return {
    state: { ...state, markedSince: new Map() },
    decision: {
      desired,
      want,
      reason: desired > fleet.replicas ? 'Raised' : 'Steady',
      ...(limitedBy && { limitedBy }),
      pause: [],
      resume: pausedWorkers(sample),
      remove: [],
    },
  };
}

/**
 * Shrinks in two phases: the chosen workers pause; those that were seen empty are marked; when the marks have been seen
 * for a while, the replicas go down by as many. Also used at the right size: no worker is chosen, and all resume.
 */
function shrunk(moment: Moment, state: AutoscalerState, wanted: Wanted): Decided {
  const { settings, sample, fleet, nowMs } = moment;
  const alive = fleet.pods.filter(isAlive).length;
  /** Pods that the last shrink has not deleted yet: they are still among the victims. */
  const undeleted = Math.max(0, alive - fleet.replicas);
  const surplus = fleet.rolling ? 0 : fleet.replicas + undeleted - wanted.target;
  const allowance =
    settings.manualReplicas === undefined
      ? shrinkAllowance(settings.scaleDown, state.shrinks, fleet.replicas)
      : Number.POSITIVE_INFINITY;
  const plan = planShrink(settings, sample, fleet, { surplus, allowed: allowance + undeleted, nowMs });

  const drained = plan.victims.filter(({ state: its, busy }) => its === 'paused' && busy === 0);
  const markedSince = seenMarks(drained, state.markedSince, fleet, nowMs);
  const gone =
    undeleted > 0 ? 0 : plan.notReady + settledVictims(plan, drained, markedSince, fleet, sample.at);
  const chosen = new Set(plan.victims.map(({ id }) => id));
  const shrinks = gone > 0 ? [...state.shrinks, { at: nowMs, pods: gone }] : state.shrinks;
  const limitedBy = limitOf(moment, plan, wanted, gone);
  return {
    state: { ...state, markedSince, shrinks },
    decision: {
      desired: fleet.replicas - gone,
      want: wanted.want,
      reason: gone > 0 ? 'Shrunk' : 'Steady',
      ...(limitedBy && { limitedBy }),
      pause: [...chosen],
      resume: pausedWorkers(sample).filter((id) => !chosen.has(id)),
      remove: drained.map(({ id }) => id),
    },
  };
}

function seenMarks(
  drained: readonly WorkerSample[],
  before: ReadonlyMap<string, number>,
  fleet: FleetState,
  nowMs: number,
): Map<string, number> {
  const empty = new Set(drained.map(({ pod }) => pod));
  const marked = fleet.pods.filter((pod) => pod.marked && isAlive(pod) && empty.has(pod.name));
  return new Map(marked.map(({ name }) => [name, before.get(name) ?? nowMs]));
}

/**
 * How many ready pods may go: none while a pod that is to stay is marked, since it might go instead.
 *
 * @param readAt when the drained workers were seen empty. It counts instead of the present: a worker that has claimed
 * again meanwhile, and was chosen again, is not empty because an old sample says so.
 */
function settledVictims(
  plan: ShrinkPlan,
  drained: readonly WorkerSample[],
  markedSince: ReadonlyMap<string, number>,
  fleet: FleetState,
  readAt: number,
): number {
  const empty = new Set(drained.map(({ pod }) => pod));
  const straysMark = (pod: PodState) => pod.marked && pod.phase === 'ready' && !empty.has(pod.name);
  if (plan.victims.length === 0 || fleet.pods.some(straysMark)) return 0;
  return [...markedSince.values()].filter((since) => readAt - since >= MARK_SETTLED_MS).length;
}

function limitOf(
  { settings, fleet }: Moment,
  plan: ShrinkPlan,
  { want, target }: Wanted,
  gone: number,
): ScalingLimit | undefined {
  if (aboveMaximum(settings, want)) return 'MaxReplicas';
  if (want >= fleet.replicas) return undefined;
  if (fleet.rolling) return 'RollingUpdate';
  if (plan.limitedBy !== undefined) return plan.limitedBy;
  if (plan.victims.length > 0 && gone === 0) return 'Draining';
  if (target < fleet.replicas) return undefined;
  return target === settings.minReplicas ? 'MinReplicas' : 'StabilisationWindow';
}

function aboveMaximum(settings: PoolScaling, want: number): boolean {
  return settings.manualReplicas === undefined && want > settings.maxReplicas;
}

function pausedWorkers(sample: PoolSample | undefined): string[] {
  return (sample?.workers ?? []).filter(({ state }) => state === 'paused').map(({ id }) => id);
}
