import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../clock.ts';
import type { DemandReading } from '../../jobs/demand.ts';
import type { PlanMirror } from '../../plans/plan-mirror.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { writeStatus } from '../client/apply.ts';
import type { EventRecorder } from '../client/event-recorder.ts';
import type { Informer } from '../client/informer.ts';
import { refOf } from '../client/kube-object.ts';
import type { KubernetesApi } from '../client/kubernetes-api.ts';
import type { HeldNames } from '../held-names.ts';
import { FIELD_MANAGER } from '../pools/names.ts';
import type { PoolsInForce } from '../pools/pools-in-force.ts';
import { eventsOf, type ResourceEvent } from '../resources/condition-list.ts';
import { FINALIZER } from '../resources/group.ts';
import { RENDER_PLANS, type RenderPlan } from '../resources/kinds.ts';
import { EVENTS } from '../resources/reasons.ts';
import { pace } from '../resources/status-pace.ts';
import { COUNTED, type PlanUse, planStatus } from './plan-status.ts';
import { type PlanVerdict, type ResolvedPlans, resolvePlans } from './resolve-plans.ts';

export interface PlanControllerParts {
  readonly api: KubernetesApi;
  readonly plans: Informer<RenderPlan>;
  /** Pools that have workers, and the namespace of each. */
  readonly poolsInForce: () => PoolsInForce;
  /** Plans of namespaces that have not been read yet. */
  readonly heldPlans: () => HeldNames['plans'];
  readonly mirror: Pick<PlanMirror, 'write'>;
  /** How many accounts have a plan. */
  readonly countAccounts: (plan: string) => Promise<number>;
  readonly demand: { readonly latest: DemandReading | undefined };
  /** Told of the keys of plans about which something else was found than before, once that is in force. */
  readonly onMirrored: (changed: readonly string[]) => void;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info'>;
}

/** The key for all plans together; no object has such a key. */
export const MIRROR = '*';
/** Counts of accounts and jobs are looked up so often. */
const COUNT_EVERY_MS = 10_000;
/** A plan that is to go, and has accounts, is looked at again so soon. */
const WAITING_TO_GO_MS = 3000;

/**
 * Puts all plans together into force, and looks at each by itself: its status, and whether it may go. Only what is in force
 * is told, so the mirror comes first.
 */
export class PlanController {
  readonly #parts: PlanControllerParts;
  readonly #statusWrittenMs = new Map<string, number>();
  #resolved: ResolvedPlans | undefined;

  constructor(parts: PlanControllerParts) {
    this.#parts = parts;
  }

  /** @returns milliseconds after which to look again. */
  async reconcile(key: string, signal: AbortSignal): Promise<number | undefined> {
    if (key === MIRROR) {
      await this.#mirror();
      return undefined;
    }
    const plan = this.#parts.plans.get(refOf(key));
    if (plan === undefined) {
      this.#statusWrittenMs.delete(key);
      return undefined;
    }
    const verdict = this.#resolved?.verdicts.get(key);
    // What is to be told of it is known once the mirror has it; then it is looked at again.
    if (verdict === undefined || verdict.generation !== plan.metadata.generation) return undefined;
    return this.#lookAt(key, plan, verdict, signal);
  }

  /** Names of the plans whose jobs a pool runs. */
  plansOf(pool: string): readonly string[] {
    const found: string[] = [];
    for (const [key, verdict] of this.#resolved?.verdicts ?? []) {
      if (verdict.pool === pool) found.push(refOf(key).name);
    }
    return found;
  }

  async #mirror(): Promise<void> {
    const { plans, poolsInForce, heldPlans, mirror, onMirrored, logger } = this.#parts;
    const before = this.#resolved;
    const { pools, origins } = poolsInForce();
    const resolved = resolvePlans(plans.all(), pools, before?.verdicts, heldPlans());
    const revision = await mirror.write(resolved.set, { plans: resolved.origins, pools: origins });
    this.#resolved = resolved;
    const changed = [...resolved.verdicts.keys()].filter(
      (key) => !isDeepStrictEqual(resolved.verdicts.get(key), before?.verdicts.get(key)),
    );
    if (changed.length > 0) logger.info({ revision, plans: changed }, 'plans are in force');
    onMirrored(changed);
  }

  async #lookAt(
    key: string,
    plan: RenderPlan,
    verdict: PlanVerdict,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const holdsName = verdict.state !== 'NameTaken';
    if (!holdsName) {
      if (plan.metadata.deletionTimestamp !== undefined) return this.#release(plan, signal);
      return this.#writeStatus(key, plan, verdict, {}, signal);
    }
    if (plan.metadata.deletionTimestamp === undefined) {
      const kept = await this.#keep(plan, signal);
      const accounts = await this.#parts.countAccounts(plan.metadata.name);
      await this.#writeStatus(key, kept, verdict, { accounts, ...this.#load(plan.metadata.name) }, signal);
      return COUNT_EVERY_MS;
    }
    const accounts = await this.#countOrNothing(plan.metadata.name);
    if (accounts === 0) return this.#release(plan, signal);
    const use = { ...(accounts !== undefined && { accounts }), ...this.#load(plan.metadata.name) };
    await this.#writeStatus(key, plan, verdict, use, signal);
    return WAITING_TO_GO_MS;
  }

  /** Whether a plan may go is not known while the database is away, and that is told. */
  async #countOrNothing(name: string): Promise<number | undefined> {
    try {
      return await this.#parts.countAccounts(name);
    } catch {
      return undefined;
    }
  }

  #load(name: string): Partial<PlanUse> {
    const { latest } = this.#parts.demand;
    if (latest === undefined) return {};
    const { inFlight, waiting, demand } = latest.byPlan.get(name) ?? { inFlight: 0, waiting: 0, demand: 0 };
    return { inFlight, waiting, demand };
  }

  /** From now on it cannot vanish while accounts are on it. */
  async #keep(plan: RenderPlan, signal: AbortSignal): Promise<RenderPlan> {
    const { finalizers = [] } = plan.metadata;
    return finalizers.includes(FINALIZER)
      ? plan
      : this.#setFinalizers(plan, [...finalizers, FINALIZER], signal);
  }

  async #release(plan: RenderPlan, signal: AbortSignal): Promise<undefined> {
    const { finalizers = [] } = plan.metadata;
    if (!finalizers.includes(FINALIZER)) return;
    await this.#setFinalizers(
      plan,
      finalizers.filter((name) => name !== FINALIZER),
      signal,
    );
  }

  async #setFinalizers(
    plan: RenderPlan,
    finalizers: readonly string[],
    signal: AbortSignal,
  ): Promise<RenderPlan> {
    const { api, plans } = this.#parts;
    // The version keeps what somebody else has put there at the same moment.
    const patch = { metadata: { finalizers, resourceVersion: plan.metadata.resourceVersion } };
    const written = await api.mergePatch(RENDER_PLANS, plan.metadata, patch, {
      fieldManager: FIELD_MANAGER,
      signal,
    });
    const goes = written.metadata.deletionTimestamp !== undefined && finalizers.length === 0;
    // Its end is told by the watch.
    if (!goes) plans.remember(written);
    return written;
  }

  /** @returns milliseconds after which the counts that wait are due. */
  async #writeStatus(
    key: string,
    plan: RenderPlan,
    verdict: PlanVerdict,
    use: Partial<PlanUse>,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { api, clock, plans } = this.#parts;
    const status = planStatus(plan, verdict, use, clock.now());
    const nowMs = clock.now().getTime();
    const due = pace(plan.status, status, COUNTED, this.#statusWrittenMs.get(key), nowMs);
    if (due.write === undefined) return due.againAfterMs;
    this.#tell(plan, [
      ...eventsOf(plan.status?.conditions, status.conditions ?? []),
      ...inForceEvent(plan, verdict),
    ]);
    const written = await writeStatus(api, RENDER_PLANS, plan, due.write, {
      fieldManager: FIELD_MANAGER,
      force: true,
      signal,
    });
    plans.remember(written);
    this.#statusWrittenMs.set(key, nowMs);
    return undefined;
  }

  #tell(plan: RenderPlan, events: readonly ResourceEvent[]): void {
    for (const { reason, note } of events) {
      this.#parts.events.record(plan, { type: EVENTS[reason].type, reason, action: 'Mirror', note });
    }
  }
}

/** Told once for every edit that is in force. */
function inForceEvent({ status }: RenderPlan, { state, generation }: PlanVerdict): readonly ResourceEvent[] {
  if (state !== 'Valid' || status?.observedGeneration === generation) return [];
  return [{ reason: 'InForce', note: `Generation ${generation} is in force.` }];
}
