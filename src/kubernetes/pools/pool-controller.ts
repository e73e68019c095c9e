import type { Clock } from '../../clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { writeStatus } from '../client/apply.ts';
import type { EventRecorder } from '../client/event-recorder.ts';
import type { Informer } from '../client/informer.ts';
import { keyOf, refOf } from '../client/kube-object.ts';
import type { KubernetesApi } from '../client/kubernetes-api.ts';
import { isNotFound } from '../client/kubernetes-error.ts';
import type { ControllerMetrics } from '../controller-metrics.ts';
import type { DemandWatch } from '../demand-watch.ts';
import { eventsOf, type ResourceEvent } from '../resources/condition-list.ts';
import { NETWORK_POLICIES, PODS, type Pod, RENDER_POOLS, type RenderPool } from '../resources/kinds.ts';
import { EVENTS } from '../resources/reasons.ts';
import { pace } from '../resources/status-pace.ts';
import type { WatchedNamespaces } from '../watched-namespaces.ts';
import { type Acceptance, acceptPool, type NameHolder } from './accept-pool.ts';
import { ObjectApplier, type OwnedInformers } from './apply-objects.ts';
import { DELETION_COST, FIELD_MANAGER, VICTIM_COST, workersOf } from './names.ts';
import { isOurs, ownedObjects, type PoolsSettings } from './owned-objects.ts';
import { type ObservedPool, type PoolMemory, type PoolPlan, planPool, startMemory } from './plan-pool.ts';
import type { PodIndex } from './pod-index.ts';
import { COUNTED, type Outcome, type PoolStatus, poolStatus, refusedStatus } from './pool-status.ts';
import { recordPool, removePool } from './record-pool.ts';
import type { WorkerRequests } from './worker-requests.ts';

export interface PoolControllerParts {
  readonly api: KubernetesApi;
  readonly pools: Informer<RenderPool>;
  readonly pods: PodIndex;
  readonly owned: OwnedInformers;
  /** Who has each name, of pools that are in several namespaces. */
  readonly holderOf: (name: string) => NameHolder | undefined;
  /** Which namespaces cannot be read: their pools are left as they are. */
  readonly namespaces: Pick<WatchedNamespaces, 'problem' | 'problems'>;
  /** Undefined while the installation's template of a worker cannot be used, and why. */
  readonly settings: () => PoolsSettings | { readonly fault: string };
  readonly demand: Pick<DemandWatch, 'readingOf'>;
  readonly requests: Pick<WorkerRequests, 'send'>;
  /** Plans whose jobs a pool runs. */
  readonly plansOf: (pool: string) => readonly string[];
  readonly events: Pick<EventRecorder, 'record'>;
  readonly metrics: ControllerMetrics;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/** While something is under way, time alone may call for the next step. */
const UNDER_WAY_MS = 1000;
/** Windows and hold times pass without any event. */
const SETTLED_MS = 5000;
/** Whether an object of somebody else is gone, or a refusal has ended, is told by no watch. */
const REFUSED_AGAIN_MS = 30_000;

/** Looks at one pool: sees, plans (pure, `planPool`), and does what is planned. */
export class PoolController {
  readonly #parts: PoolControllerParts;
  readonly #applier: ObjectApplier;
  readonly #memory = new Map<string, PoolMemory>();
  readonly #statusWrittenMs = new Map<string, number>();

  constructor(parts: PoolControllerParts) {
    this.#parts = parts;
    this.#applier = new ObjectApplier(parts.api, parts.owned);
  }

  /** @returns milliseconds after which to look again. */
  async reconcile(key: string, signal: AbortSignal): Promise<number | undefined> {
    const { pools, holderOf, namespaces, clock } = this.#parts;
    const pool = pools.get(refOf(key));
    if (pool === undefined || pool.metadata.deletionTimestamp !== undefined) {
      this.#forget(key);
      return this.#openNetwork(key, signal);
    }
    const { name, namespace = '' } = pool.metadata;
    const problem = namespaces.problem(namespace);
    const acceptance: Acceptance =
      problem === undefined ? acceptPool(pool, holderOf(name)) : { state: 'NamespaceUnreadable', problem };
    if (acceptance.state !== 'Valid') {
      this.#memory.delete(key);
      const status = refusedStatus(pool, acceptance, namespaces.problems(), clock.now());
      return this.#writeStatus(key, pool, status, signal);
    }
    return this.#lookAfter(key, pool, acceptance.spec, signal);
  }

  async #lookAfter(
    key: string,
    pool: RenderPool,
    spec: ObservedPool['spec'],
    signal: AbortSignal,
  ): Promise<number> {
    const { owned, pods, demand, requests, plansOf, namespaces, clock, metrics } = this.#parts;
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
      reading: demand.readingOf(name),
    };
    const plan = planPool(observed, this.#memory.get(key) ?? startMemory(nowMs), nowMs);
    this.#memory.set(key, plan.memory);
    recordPool(metrics, name, spec, plan);
    this.#tell(
      pool,
      plan.events.filter(({ reason }) => reason === 'WrongVictim'),
    );

    await requests.send(plan.pause, plan.resume, nowMs);
    await this.#mark(pool, plan, signal);
    const { outcome, deploymentApplied } = await this.#apply({ ...pool, spec }, plan, signal);
    if (deploymentApplied) {
      if (plan.shrink !== undefined) this.#memory.set(key, { ...plan.memory, shrink: plan.shrink });
      this.#tellSize(pool, plan);
    }
    const facts = { observed, plan, outcome, plans: plansOf(name), unreadable: namespaces.problems() };
    const status = poolStatus(pool, facts, clock.now());
    const statusDueMs = await this.#writeStatus(key, pool, status, signal);
    const againMs = outcome.reason === 'Applied' ? SETTLED_MS : REFUSED_AGAIN_MS;
    return Math.min(plan.atRest ? againMs : UNDER_WAY_MS, statusDueMs ?? againMs);
  }

  /** Exactly the empty workers that are to go carry a deletion cost; it is seen in the cache before the replicas go down. */
  async #mark({ metadata: { namespace } }: RenderPool, { mark, unmark }: PoolPlan, signal: AbortSignal) {
    const write = async (name: string, cost: string | null) => {
      const ref = { name, ...(namespace !== undefined && { namespace }) };
      const patch = { metadata: { annotations: { [DELETION_COST]: cost } } };
      try {
        const pod = await this.#parts.api.mergePatch<Pod>(PODS, ref, patch, {
          fieldManager: FIELD_MANAGER,
          signal,
        });
        this.#parts.pods.remember(pod);
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
  ): Promise<{ outcome: Outcome; deploymentApplied: boolean }> {
    const settings = this.#parts.settings();
    if ('fault' in settings) {
      return { outcome: { reason: 'NoTemplate', message: settings.fault }, deploymentApplied: false };
    }
    const wanted = ownedObjects(pool, settings);
    const { deployment } = wanted;
    const sized = { ...wanted, deployment: { ...deployment, spec: { ...deployment.spec, replicas } } };
    const { healed, deploymentApplied, reason, message } = await this.#applier.apply(pool, sized, signal);
    this.#tell(
      pool,
      healed.map((object) => ({ reason: 'DriftHealed', note: `${object} is as it should be again.` })),
    );
    return { outcome: { reason, message }, deploymentApplied };
  }

  /** @returns milliseconds after which the counts that wait are due. */
  async #writeStatus(
    key: string,
    pool: RenderPool,
    status: PoolStatus,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { api, clock, pools } = this.#parts;
    const nowMs = clock.now().getTime();
    const due = pace(pool.status, status, COUNTED, this.#statusWrittenMs.get(key), nowMs);
    if (due.write === undefined) return due.againAfterMs;
    this.#tell(pool, eventsOf(pool.status?.conditions, status.conditions ?? []));
    const written = await writeStatus(api, RENDER_POOLS, pool, due.write, {
      fieldManager: FIELD_MANAGER,
      force: true,
      signal,
    });
    pools.remember(written);
    this.#statusWrittenMs.set(key, nowMs);
    return undefined;
  }

  #tellSize(pool: RenderPool, plan: PoolPlan): void {
    const { metrics, logger } = this.#parts;
    const sizes = plan.events.filter(({ reason }) => reason !== 'WrongVictim');
    this.#tell(pool, sizes);
    if (sizes.length === 0) return;
    const direction = plan.replicas > plan.fleet.replicas ? 'up' : 'down';
    metrics.scaleActions.inc({ pool: pool.metadata.name, direction });
    const { want, reason, limitedBy } = plan.decision;
    logger.info(
      { pool: keyOf(pool.metadata), from: plan.fleet.replicas, to: plan.replicas, want, reason, limitedBy },
      'a pool has another size',
    );
  }

  #tell(pool: RenderPool, events: readonly ResourceEvent[]): void {
    for (const { reason, note } of events) {
      this.#parts.events.record(pool, { type: EVENTS[reason].type, reason, action: 'Reconcile', note });
    }
  }

  /**
   * Of a pool that is gone: its workers may render for minutes yet, so their network policy goes after the last of them.
   *
   * @returns milliseconds after which to look again, where it cannot be seen whether there are any.
   */
  async #openNetwork(key: string, signal: AbortSignal): Promise<number | undefined> {
    const { api, owned, pods, namespaces } = this.#parts;
    const pool = refOf(key);
    const ref = { ...pool, name: workersOf(pool.name) };
    const policy = owned.policies.get(ref);
    if (policy === undefined || !isOurs(policy, pool.name)) return undefined;
    if (namespaces.problem(pool.namespace ?? '') !== undefined) return REFUSED_AGAIN_MS;
    if (owned.deployments.get(ref) !== undefined || pods.ofPool(key).length > 0) return undefined;
    await api.delete(NETWORK_POLICIES, ref, { uid: policy.metadata.uid, signal });
    return undefined;
  }

  #forget(key: string): void {
    const { name, namespace } = refOf(key);
    this.#memory.delete(key);
    this.#statusWrittenMs.delete(key);
    this.#applier.forget(workersOf(name), namespace);
    if (this.#parts.holderOf(name) === undefined) removePool(this.#parts.metrics, name);
  }
}
