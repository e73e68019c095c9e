import { isDeepStrictEqual } from 'node:util';
import type { Core } from '../../infra/core.ts';
import { writeStatus } from '../../infra/kube/client/apply.ts';
import type { EventRecorder } from '../../infra/kube/client/event-recorder.ts';
import type { Informer } from '../../infra/kube/client/informer.ts';
import { refOf } from '../../infra/kube/client/kube-object.ts';
import type { KubernetesApi } from '../../infra/kube/client/kubernetes-api.ts';
import type { Plan } from '../../tenants/plans/plan.ts';
import { type PlanMirror, UNKNOWN_ORIGIN } from '../../tenants/plans/plan-mirror.ts';
import type { DemandSample } from '../../work/jobs/demand.ts';
import type { ControllerMetrics } from '../controller-metrics.ts';
import type { Held, HeldNames } from '../held-names.ts';
import { FIELD_MANAGER } from '../pools/labels.ts';
import type { PoolsInForce } from '../pools/pools-in-force.ts';
import { eventsOf, type ResourceEvent } from '../resources/condition-list.ts';
import { EVENTS } from '../resources/events.ts';
import { claim, type Installation, isManageable } from '../resources/installation.ts';
import { RENDER_PLANS, type RenderPlan } from '../resources/kinds.ts';
import { pace } from '../resources/status-pace.ts';
import { COUNTED, isNameless, type PlanUse, planStatus } from './plan-status.ts';
import { type PlanVerdict, type ResolvedPlans, resolvePlans } from './resolve-plans.ts';

interface PlanControllerDeps extends Pick<Core, 'clock' | 'logger'> {
  readonly api: KubernetesApi;
  readonly plans: Informer<RenderPlan>;
  readonly installation: Installation;
  /** Reports once that another installation manages a plan. */
  readonly reportManaged: (plan: RenderPlan) => void;
  /** Pools that have workers, and the namespace of each. */
  readonly poolsInForce: () => PoolsInForce;
  /** Plans of namespaces that have not been read yet. */
  readonly heldPlans: () => HeldNames['plans'];
  readonly mirror: Pick<PlanMirror, 'own' | 'write'>;
  /** How many accounts have a plan. */
  readonly countAccounts: (plan: string) => Promise<number>;
  readonly demand: { readonly latest: DemandSample | undefined };
  /** Called with the keys of plans whose verdict has changed, once it is in force. */
  readonly onMirrored: (changed: readonly string[]) => void;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly metrics: Pick<ControllerMetrics, 'orphanPlans'>;
}

/** The key for all plans together; no object has such a key. */
export const MIRROR = '*';
/** Accounts and jobs are counted at most this often, in milliseconds. */
const COUNT_EVERY_MS = 10_000;

/**
 * Puts all plans into force together, and reconciles the status of each by itself. A status reports only what is in
 * force, so the mirror is written first. A plan that is deleted while accounts are on it stays in force for them, so
 * that no account gets limits that nobody has chosen; the object itself is not kept.
 */
export class PlanController {
  readonly #deps: PlanControllerDeps;
  readonly #statusWrittenMs = new Map<string, number>();
  #resolved: ResolvedPlans | undefined;
  #orphanNames: ReadonlySet<string> = new Set();

  constructor(deps: PlanControllerDeps) {
    this.#deps = deps;
  }

  /** @returns milliseconds until the next reconciliation. */
  async reconcile(key: string, signal: AbortSignal): Promise<number | undefined> {
    if (key === MIRROR) return this.#mirror();
    const plan = this.#deps.plans.get(refOf(key));
    if (plan === undefined) {
      this.#statusWrittenMs.delete(key);
      return undefined;
    }
    this.#deps.reportManaged(plan);
    if (!isManageable(plan, this.#deps.installation)) {
      this.#statusWrittenMs.delete(key);
      return undefined;
    }
    const verdict = this.#resolved?.verdicts.get(key);
    // The verdict is known once the mirror is written; then the plan is reconciled again.
    if (verdict === undefined || verdict.generation !== plan.metadata.generation) return undefined;
    return this.#checkAt(key, plan, verdict, signal);
  }

  /** Names of the plans whose jobs a pool runs. */
  plansOf(pool: string): readonly string[] {
    const found: string[] = [];
    for (const [key, verdict] of this.#resolved?.verdicts ?? []) {
      if (verdict.pool === pool) found.push(refOf(key).name);
    }
    return found;
  }

  /** @returns milliseconds until the next reconciliation: set while accounts are on plans that were deleted. */
  async #mirror(): Promise<number | undefined> {
    const { plans, poolsInForce, heldPlans, mirror, onMirrored, installation, logger } = this.#deps;
    // A snapshot: a plan that is deleted meanwhile must count among the mirrored ones the next time.
    const all = [...plans.all()].filter((plan) => isManageable(plan, installation));
    const held = heldPlans();
    const orphans = await this.#orphans(all, held);
    const before = this.#resolved;
    const { pools, origins } = poolsInForce();
    const resolved = resolvePlans(all, pools, installation, before?.verdicts, new Map([...held, ...orphans]));
    const revision = await mirror.write(resolved.set, { plans: resolved.origins, pools: origins });
    this.#resolved = resolved;
    const changed = [...resolved.verdicts.keys()].filter(
      (key) => !isDeepStrictEqual(resolved.verdicts.get(key), before?.verdicts.get(key)),
    );
    if (changed.length > 0) logger.info({ revision, plans: changed }, 'plans are in force');
    onMirrored(changed);
    return orphans.size > 0 ? COUNT_EVERY_MS : undefined;
  }

  /** Plans in force whose RenderPlan is deleted and that accounts are still on. */
  async #orphans(
    all: readonly RenderPlan[],
    held: HeldNames['plans'],
  ): Promise<ReadonlyMap<string, Held<Plan>>> {
    const { mirror, countAccounts, metrics, logger } = this.#deps;
    const mirrored = await mirror.own();
    const there = new Set([...held.keys(), ...all.map(({ metadata }) => metadata.name)]);
    const found = new Map<string, Held<Plan>>();
    const counts = new Map<string, number>();
    for (const [name, namespace] of mirrored?.origins?.plans ?? []) {
      const value = mirrored?.set.plans.get(name);
      if (value === undefined || there.has(name) || namespace === UNKNOWN_ORIGIN) continue;
      const accounts = await countAccounts(name);
      if (accounts === 0) continue;
      found.set(name, { value, namespace });
      counts.set(name, accounts);
      if (this.#orphanNames.has(name)) continue;
      logger.warn({ plan: name, accounts }, 'a plan was deleted; its limits stay in force for its accounts');
    }
    this.#orphanNames = new Set(found.keys());
    metrics.orphanPlans.reset();
    for (const [plan, accounts] of counts) metrics.orphanPlans.set({ plan }, accounts);
    return found;
  }

  async #checkAt(
    key: string,
    found: RenderPlan,
    verdict: PlanVerdict,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { api, plans, installation } = this.#deps;
    const plan = await claim(api, RENDER_PLANS, found, installation, FIELD_MANAGER, signal);
    plans.remember(plan);
    if (isNameless(verdict)) return this.#writeStatus(key, plan, verdict, {}, signal);
    const accounts = await this.#deps.countAccounts(plan.metadata.name);
    await this.#writeStatus(key, plan, verdict, { accounts, ...this.#load(plan.metadata.name) }, signal);
    return COUNT_EVERY_MS;
  }

  #load(name: string): Partial<PlanUse> {
    const { latest } = this.#deps.demand;
    if (latest === undefined) return {};
    const { inFlight, waiting, demand } = latest.byPlan.get(name) ?? { inFlight: 0, waiting: 0, demand: 0 };
    return { inFlight, waiting, demand };
  }

  /** @returns milliseconds after which the postponed counts are due. */
  async #writeStatus(
    key: string,
    plan: RenderPlan,
    verdict: PlanVerdict,
    use: Partial<PlanUse>,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { api, clock, plans } = this.#deps;
    const status = planStatus(plan, verdict, use, clock.now());
    const nowMs = clock.now().getTime();
    const due = pace(plan.status, status, COUNTED, this.#statusWrittenMs.get(key), nowMs);
    if (due.write === undefined) return due.againAfterMs;
    this.#report(plan, [
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

  #report(plan: RenderPlan, events: readonly ResourceEvent[]): void {
    for (const { reason, note } of events) {
      this.#deps.events.record(plan, { type: EVENTS[reason].type, reason, action: 'Mirror', note });
    }
  }
}

/** Reported once for every edit that is in force. */
function inForceEvent({ status }: RenderPlan, { state, generation }: PlanVerdict): readonly ResourceEvent[] {
  if (state !== 'Valid' || status?.observedGeneration === generation) return [];
  return [{ reason: 'InForce', note: `Generation ${generation} is in force.` }];
}
