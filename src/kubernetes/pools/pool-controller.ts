import type { Core } from '../../infra/core.ts';
import { writeStatus } from '../../infra/kube/client/apply.ts';
import type { EventRecorder } from '../../infra/kube/client/event-recorder.ts';
import type { Informer } from '../../infra/kube/client/informer.ts';
import { keyOf, refOf } from '../../infra/kube/client/kube-object.ts';
import type { KubernetesApi } from '../../infra/kube/client/kubernetes-api.ts';
import { isNotFound } from '../../infra/kube/kubernetes-error.ts';
import type { ControllerMetrics } from '../controller-metrics.ts';
import type { DemandWatch } from '../demand-watch.ts';
import { eventsOf, type ResourceEvent } from '../resources/condition-list.ts';
import { EVENTS } from '../resources/events.ts';
import { claim, INSTALLATION, type Installation, isManageable } from '../resources/installation.ts';
import { NETWORK_POLICIES, PODS, type Pod, RENDER_POOLS, type RenderPool } from '../resources/kinds.ts';
import { pace } from '../resources/status-pace.ts';
import type { WatchedNamespaces } from '../watched-namespaces.ts';
import { type Acceptance, acceptPool, type NameHolder } from './accept-pool.ts';
import {
  type ApplyResult,
  ObjectApplier,
  type OwnedInformers,
  REJECTED_RETRY_MS,
  withWorkersKept,
} from './apply-objects.ts';
import { DELETION_COST, FIELD_MANAGER, VICTIM_COST, workersOf } from './labels.ts';
import { isOurs, ownedObjects, type PoolsSettings } from './owned-objects.ts';
import { type ObservedPool, type PoolMemory, type PoolPlan, planPool, startMemory } from './plan-pool.ts';
import type { PodIndex } from './pod-index.ts';
import { COUNTED, type PoolStatus, poolStatus, rejectedStatus } from './pool-status.ts';
import { recordPool, removePool } from './record-pool.ts';
import type { WorkerRequests } from './worker-requests.ts';

interface PoolControllerDeps extends Pick<Core, 'clock' | 'logger'> {
  readonly api: KubernetesApi;
  readonly pools: Informer<RenderPool>;
  readonly pods: PodIndex;
  readonly owned: OwnedInformers;
  readonly installation: Installation;
  /** Reports once that another installation manages a pool, or is to. */
  readonly reportManaged: (pool: RenderPool) => void;
  /** The pool that holds a name, of pools in several namespaces. */
  readonly holderOf: (name: string) => NameHolder | undefined;
  /** The namespaces that cannot be read: their pools are left as they are. */
  readonly namespaces: Pick<WatchedNamespaces, 'problem' | 'problems'>;
  /** The settings; or, while the installation's template of a worker cannot be used, the error. */
  readonly settings: () => PoolsSettings | { readonly error: string };
  readonly demand: Pick<DemandWatch, 'sampleOf'>;
  readonly requests: Pick<WorkerRequests, 'send'>;
  /** Plans whose jobs a pool runs. */
  readonly plansOf: (pool: string) => readonly string[];
  readonly events: Pick<EventRecorder, 'record'>;
  readonly metrics: ControllerMetrics;
}

/** In milliseconds. While something is under way, time alone may call for the next step. */
const UNDER_WAY_MS = 1000;
/** In milliseconds. Windows and hold times pass without any event. */
const SETTLED_MS = 5000;

/** Reconciles one pool: observes, plans (pure, `planPool`), and executes the plan. */
export class PoolController {
  readonly #deps: PoolControllerDeps;
  readonly #applier: ObjectApplier;
  readonly #memory = new Map<string, PoolMemory>();
  readonly #statusWrittenMs = new Map<string, number>();

  constructor(deps: PoolControllerDeps) {
    this.#deps = deps;
    this.#applier = new ObjectApplier({ ...deps, informers: deps.owned });
  }

  /** @returns milliseconds until the next reconciliation. */
  async reconcile(key: string, signal: AbortSignal): Promise<number | undefined> {
    const { api, pools, holderOf, namespaces, installation, clock } = this.#deps;
    const found = pools.get(refOf(key));
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) {
      this.#forget(key);
      return this.#openNetwork(key, signal);
    }
    this.#deps.reportManaged(found);
    if (!isManageable(found, installation)) {
      this.#forget(key);
      return undefined;
    }
    const { name, namespace = '' } = found.metadata;
    const problem = namespaces.problem(namespace);
    const pool =
      problem === undefined
        ? await claim(api, RENDER_POOLS, found, installation, FIELD_MANAGER, signal)
        : found;
    pools.remember(pool);
    const acceptance: Acceptance =
      problem === undefined
        ? acceptPool(pool, holderOf(name), installation)
        : { state: 'NamespaceUnreadable', problem };
    if (acceptance.state !== 'Valid') {
      this.#memory.delete(key);
      const status = rejectedStatus(pool, acceptance, namespaces.problems(), clock.now());
      return this.#writeStatus(key, pool, status, signal);
    }
    return this.#checkAfter(key, pool, acceptance.spec, signal);
  }

  async #checkAfter(
    key: string,
    pool: RenderPool,
    spec: ObservedPool['spec'],
    signal: AbortSignal,
  ): Promise<number> {
    const { owned, pods, demand, requests, plansOf, namespaces, clock, metrics } = this.#deps;
    const { name, namespace } = pool.metadata;
    const nowMs = clock.now().getTime();
    const observed: ObservedPool = {
      name,
      spec,
      deployment: owned.deployments.get({
        name: workersOf(name),
        ...(namespace !== undefined && { namespace }),
      }),
      pods: pods.ofPool(key),
      sample: demand.sampleOf(name),
    };
    const plan = planPool(observed, this.#memory.get(key) ?? startMemory(nowMs), nowMs);
    this.#memory.set(key, plan.memory);
    recordPool(metrics, name, spec, plan);
    this.#report(
      pool,
      plan.events.filter(({ reason }) => reason === 'WrongVictim'),
    );

    await requests.send(plan.pause, plan.resume, nowMs);
    await this.#mark(pool, plan, signal);
    const { reason, message, sized, error } = await this.#apply({ ...pool, spec }, plan, signal);
    metrics.notApplied.set({ pool: name }, reason === 'Applied' ? 0 : 1);
    if (sized) {
      if (plan.shrink !== undefined) this.#memory.set(key, { ...plan.memory, shrink: plan.shrink });
      this.#reportSize(pool, plan);
    }
    const outcome = { reason, message };
    const facts = { observed, plan, outcome, sized, plans: plansOf(name), unreadable: namespaces.problems() };
    const status = poolStatus(pool, facts, clock.now());
    const statusDueMs = await this.#writeStatus(key, pool, status, signal);
    if (error !== undefined) throw error;
    return Math.min(plan.settled ? SETTLED_MS : UNDER_WAY_MS, statusDueMs ?? SETTLED_MS);
  }

  /** Exactly the empty workers that are to go carry a deletion cost; the cache has it before the replicas go down. */
  async #mark({ metadata: { namespace } }: RenderPool, { mark, unmark }: PoolPlan, signal: AbortSignal) {
    const write = async (name: string, cost: string | null) => {
      const ref = { name, ...(namespace !== undefined && { namespace }) };
      const patch = { metadata: { annotations: { [DELETION_COST]: cost } } };
      try {
        const pod = await this.#deps.api.mergePatch<Pod>(PODS, ref, patch, {
          fieldManager: FIELD_MANAGER,
          signal,
        });
        this.#deps.pods.remember(pod);
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    };
    await Promise.all([
      ...mark.map((name) => write(name, VICTIM_COST)),
      ...unmark.map((name) => write(name, null)),
    ]);
  }

  async #apply(
    pool: RenderPool,
    { replicas }: PoolPlan,
    signal: AbortSignal,
  ): Promise<Omit<ApplyResult, 'healed'>> {
    const { installation } = this.#deps;
    const settings = this.#deps.settings();
    if ('error' in settings) {
      const sized = await this.#applier.scale(pool, replicas, signal);
      const message = sized ? withWorkersKept(settings.error) : settings.error;
      return { reason: 'NoTemplate', message, sized, error: undefined };
    }
    const wanted = ownedObjects(pool, settings, installation);
    const { deployment } = wanted;
    const all = { ...wanted, deployment: { ...deployment, spec: { ...deployment.spec, replicas } } };
    const { healed, ...result } = await this.#applier.apply(pool, all, signal);
    this.#report(
      pool,
      healed.map((object) => ({ reason: 'DriftHealed', note: `The ${object} is as it should be again.` })),
    );
    return result;
  }

  /** @returns milliseconds after which the postponed counts are due. */
  async #writeStatus(
    key: string,
    pool: RenderPool,
    status: PoolStatus,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { api, clock, pools } = this.#deps;
    const nowMs = clock.now().getTime();
    const due = pace(pool.status, status, COUNTED, this.#statusWrittenMs.get(key), nowMs);
    if (due.write === undefined) return due.againAfterMs;
    this.#report(pool, eventsOf(pool.status?.conditions, status.conditions ?? []));
    const written = await writeStatus(api, RENDER_POOLS, pool, due.write, {
      fieldManager: FIELD_MANAGER,
      force: true,
      signal,
    });
    pools.remember(written);
    this.#statusWrittenMs.set(key, nowMs);
    return undefined;
  }

  #reportSize(pool: RenderPool, plan: PoolPlan): void {
    const { metrics, logger } = this.#deps;
    const sizes = plan.events.filter(({ reason }) => reason !== 'WrongVictim');
    this.#report(pool, sizes);
    if (sizes.length === 0) return;
    const direction = plan.replicas > plan.fleet.replicas ? 'up' : 'down';
    metrics.scaleActions.inc({ pool: pool.metadata.name, direction });
    const { want, reason, limitedBy } = plan.decision;
    logger.info(
      { pool: keyOf(pool.metadata), from: plan.fleet.replicas, to: plan.replicas, want, reason, limitedBy },
      'a pool has another size',
    );
  }

  #report(pool: RenderPool, events: readonly ResourceEvent[]): void {
    for (const { reason, note } of events) {
      this.#deps.events.record(pool, { type: EVENTS[reason].type, reason, action: 'Reconcile', note });
    }
  }

  /**
   * For a pool that is gone: its workers may render for minutes yet, so their network policy is deleted after the last
   * of them.
   *
   * @returns milliseconds until the next reconciliation, where it is not known whether workers are left.
   */
  async #openNetwork(key: string, signal: AbortSignal): Promise<number | undefined> {
    const { api, owned, pods, namespaces, installation } = this.#deps;
    const pool = refOf(key);
    const ref = { ...pool, name: workersOf(pool.name) };
    const policy = owned.policies.get(ref);
    if (policy === undefined || !isOurs(policy, pool.name)) return undefined;
    const maker = policy.metadata.annotations?.[INSTALLATION] ?? installation.id;
    if (maker !== installation.id) return undefined;
    if (namespaces.problem(pool.namespace ?? '') !== undefined) return REJECTED_RETRY_MS;
    if (owned.deployments.get(ref) !== undefined || pods.ofPool(key).length > 0) return undefined;
    await api.delete(NETWORK_POLICIES, ref, { uid: policy.metadata.uid, signal });
    return undefined;
  }

  #forget(key: string): void {
    const { name, namespace } = refOf(key);
    this.#memory.delete(key);
    this.#statusWrittenMs.delete(key);
    this.#applier.forget(workersOf(name), namespace);
    if (this.#deps.holderOf(name) === undefined) removePool(this.#deps.metrics, name);
  }
}
