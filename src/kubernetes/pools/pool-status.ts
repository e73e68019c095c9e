import { conditionsOf, type Finding, readyFinding } from '../resources/condition-list.ts';
import type { Pod, RenderPool } from '../resources/kinds.ts';
import { POOL_CONDITIONS } from '../resources/reasons.ts';
import type { RenderPoolStatus } from '../resources/render-pool.ts';
import type { Acceptance } from './accept-pool.ts';
import { foreignCostWriters } from './foreign-writers.ts';
import { selectorText, workerSelector } from './labels.ts';
import type { ObservedPool, PoolPlan } from './plan-pool.ts';
import { troubleOf } from './worker-trouble.ts';

export type PoolStatus = NonNullable<RenderPool['status']>;
type PoolFinding = Finding<typeof POOL_CONDITIONS>;

/** The result of writing a pool's objects. */
export interface Outcome {
  readonly reason: keyof typeof POOL_CONDITIONS.WorkersApplied.reasons;
  readonly message: string;
}

/** Fields that change by themselves, and whose report can be postponed. */
export const COUNTED = [
  'replicas',
  'readyReplicas',
  'wantedReplicas',
  'demandSlots',
  'pausedWorkers',
] as const satisfies readonly (keyof RenderPoolStatus)[];

/** The status of a pool that is not managed: the reason, and otherwise what it was last. */
export function rejectedStatus(
  pool: RenderPool,
  acceptance: Exclude<Acceptance, { state: 'Valid' }>,
  unreadable: UnreadableNamespaces,
  now: Date,
): PoolStatus {
  const { status, metadata } = pool;
  const accepted: PoolFinding = {
    type: 'Accepted',
    reason: acceptance.state,
    message: rejection(acceptance),
  };
  const findings: PoolFinding[] = [
    readyFinding(POOL_CONDITIONS, [accepted]),
    accepted,
    namespacesReadable(unreadable),
  ];
  const reported = conditionsOf(POOL_CONDITIONS, status?.conditions, findings, metadata.generation, now);
  // The pool still has its workers, and a controller that starts anew has to know that (poolsInForce).
  const kept = (status?.conditions ?? []).filter(({ type }) => type === 'WorkersApplied');
  return {
    ...status,
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    conditions: [...kept, ...reported],
  };
}

function rejection(acceptance: Exclude<Acceptance, { state: 'Valid' }>): string {
  switch (acceptance.state) {
    case 'Invalid':
      return `${acceptance.errors}. The workers stay as they were.`;
    case 'NameTaken':
      return `The RenderPool ${acceptance.by} is older and has the name.`;
    case 'NameReserved':
      return `Only a RenderPool in the namespace ${acceptance.home} may have this name: it stands in for missing pools. Give this one another name.`;
    case 'NamespaceUnreadable':
      return `${acceptance.problem}. The workers stay as they were.`;
  }
}

/** The reason for each watched namespace that cannot be read, by its name. */
type UnreadableNamespaces = ReadonlyMap<string, string>;

/** Reported on every pool that can be read: nothing can be written in the unreadable namespace itself. */
function namespacesReadable(unreadable: UnreadableNamespaces): PoolFinding {
  const type = 'NamespacesReadable';
  if (unreadable.size === 0) return { type, reason: 'AllReadable', message: '' };
  const each = [...unreadable].map(([namespace, problem]) => `${namespace}: ${problem}`);
  return { type, reason: 'NamespaceUnreadable', message: cut(each.join('; ')) };
}

/** The API server takes no longer message of a condition, in characters. */
const MAX_MESSAGE = 32_768;

function cut(message: string): string {
  return message.length <= MAX_MESSAGE ? message : `${message.slice(0, MAX_MESSAGE - 1)}…`;
}

interface PoolFacts {
  readonly observed: ObservedPool;
  readonly plan: PoolPlan;
  readonly outcome: Outcome;
  /** Whether the Deployment has the planned size. */
  readonly sized: boolean;
  /** The plans whose jobs run here. */
  readonly plans: readonly string[];
  readonly unreadable: UnreadableNamespaces;
}

/** The status to write for a pool. */
export function poolStatus(pool: RenderPool, facts: PoolFacts, now: Date): PoolStatus {
  const { observed, plan, outcome, sized, plans, unreadable } = facts;
  const { metadata, status } = pool;
  const { decision, fleet } = plan;
  const essential: PoolFinding[] = [
    { type: 'Accepted', reason: 'Valid', message: '' },
    { type: 'WorkersApplied', reason: outcome.reason, message: cut(outcome.message) },
    available(observed, plan),
  ];
  const limitedBy = sized ? (decision.limitedBy ?? 'NotLimited') : 'NotApplied';
  const findings: PoolFinding[] = [
    readyFinding(POOL_CONDITIONS, essential),
    ...essential,
    scalingActive(observed, plan),
    { type: 'ScalingLimited', reason: limitedBy, message: '' },
    sandboxed(observed),
    soleWriter(observed.pods, plan, now.getTime()),
    namespacesReadable(unreadable),
  ];
  const scaled = sized && plan.replicas !== fleet.replicas && observed.deployment !== undefined;
  const lastScaleTime = scaled ? `${now.toISOString().slice(0, 19)}Z` : status?.lastScaleTime;
  return {
    ...(status?.managedBy !== undefined && { managedBy: status.managedBy }),
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    conditions: conditionsOf(POOL_CONDITIONS, status?.conditions, findings, metadata.generation, now),
    replicas: fleet.pods.filter(({ phase }) => phase !== 'terminating').length,
    readyReplicas: fleet.pods.filter(({ phase }) => phase === 'ready').length,
    desiredReplicas: sized ? plan.replicas : fleet.replicas,
    ...(decision.want !== undefined && { wantedReplicas: decision.want }),
    ...(observed.sample !== undefined && { demandSlots: observed.sample.demand }),
    pausedWorkers: (observed.sample?.workers ?? []).filter(({ state }) => state === 'paused').length,
    selector: selectorText(workerSelector(metadata.name)),
    ...(lastScaleTime !== undefined && { lastScaleTime }),
    plans: [...plans].sort(),
  };
}

function available({ deployment, pods, spec }: ObservedPool, { replicas, fleet }: PoolPlan): PoolFinding {
  const type = 'Available';
  const trouble = troubleOf(deployment, pods);
  if (trouble !== undefined) return { type, reason: trouble.reason, message: cut(trouble.message) };
  if (replicas === 0) return { type, reason: 'ScaledToZero', message: '' };
  const ready = fleet.pods.filter(({ phase }) => phase === 'ready').length;
  if (ready >= replicas) return { type, reason: 'WorkersReady', message: '' };
  // A pool that grows with its demand works meanwhile.
  const least = Math.max(1, spec.mode === 'Manual' ? replicas : spec.minReplicas);
  return { type, reason: ready >= least ? 'MoreStarting' : 'WorkersStarting', message: '' };
}

function scalingActive({ spec }: ObservedPool, { decision }: PoolPlan): PoolFinding {
  return { type: 'ScalingActive', reason: decision.hold ?? spec.mode, message: '' };
}

/** By what workers report of themselves: their settings do not show whether the sandbox is in effect. */
function sandboxed({ sample }: ObservedPool): PoolFinding {
  const states = (sample?.workers ?? []).map(({ sandbox }) => sandbox);
  const all = states.every((sandbox) => sandbox === 'on') ? 'WorkersSandboxed' : 'WorkersUnsandboxed';
  return { type: 'Sandboxed', reason: states.length === 0 ? 'WorkersUnknown' : all, message: '' };
}

function soleWriter(pods: readonly Pod[], { memory: { contest } }: PoolPlan, nowMs: number): PoolFinding {
  const type = 'SoleWriter';
  if (contest !== undefined) {
    const names = contest.by.join(', ');
    const next =
      nowMs < contest.yieldUntilMs
        ? 'The size stays as it was written for a while.'
        : 'The pool has its own size again.';
    return {
      type,
      reason: 'ForeignReplicas',
      message: `${names} has written spec.replicas of the Deployment. ${next}`,
    };
  }
  const writers = foreignCostWriters(pods);
  return writers.length === 0
    ? { type, reason: 'SoleWriter', message: '' }
    : {
        type,
        reason: 'ForeignDeletionCost',
        message: `${writers.join(', ')} has written the deletion cost of pods.`,
      };
}
