import { unlessAborted } from '../infra/async/unless-aborted.ts';
import type { Core } from '../infra/core.ts';
import type { EventRecorder } from '../infra/kube/client/event-recorder.ts';
import { type KubeObject, keyOf } from '../infra/kube/client/kube-object.ts';
import type { KubernetesApi } from '../infra/kube/client/kubernetes-api.ts';
import { WorkQueue } from '../infra/kube/queue/work-queue.ts';
import type { MirroredSet, PlanMirror } from '../tenants/plans/plan-mirror.ts';
import type { DemandSample } from '../work/jobs/demand.ts';
import type { JobMetrics } from '../work/jobs/job-metrics.ts';
import type { WorkerRegistry } from '../work/pools/worker-registry.ts';
import { type ControllerInformers, startInformers } from './controller-informers.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import { DemandWatch } from './demand-watch.ts';
import { type HeldNames, heldNames, isHeld, NOTHING_HELD } from './held-names.ts';
import { managedReporter } from './managed-reporter.ts';
import { MIRROR, PlanController } from './plans/plan-controller.ts';
import type { NameHolder } from './pools/accept-pool.ts';
import { POOL_LABEL } from './pools/labels.ts';
import type { PoolsSettings } from './pools/owned-objects.ts';
import { PodIndex } from './pools/pod-index.ts';
import { PoolController } from './pools/pool-controller.ts';
import { type PoolsInForce, poolsInForce } from './pools/pools-in-force.ts';
import { WorkerRequests } from './pools/worker-requests.ts';
import { reportResults } from './report-results.ts';
import { assigneeOf, type Installation, isManageable, managerOf } from './resources/installation.ts';
import type { RenderPool } from './resources/kinds.ts';
import { holdersOfNames } from './resources/names-taken.ts';
import { WatchedNamespaces } from './watched-namespaces.ts';

interface ControllerDeps extends Pick<Core, 'clock' | 'logger'> {
  readonly api: KubernetesApi;
  readonly installation: Installation;
  /** The namespaces whose plans and pools the controller manages. */
  readonly namespaces: readonly string[];
  readonly mirror: Pick<PlanMirror, 'own' | 'write'>;
  readonly registry: Pick<WorkerRegistry, 'requestPause' | 'cancelPause'>;
  readonly countAccounts: (plan: string) => Promise<number>;
  /** @throws when the demand cannot be read completely. */
  readonly readDemand: () => Promise<DemandSample>;
  readonly settings: () => PoolsSettings | { readonly error: string };
  readonly events: EventRecorder;
  readonly metrics: ControllerMetrics;
  readonly poolDemand: JobMetrics['poolDemand'];
}

/** Reconciliations of pools per second in the long run: 500 pools once a second, and as many for events. */
const POOLS_PER_SECOND = 1000;
const GAUGES_EVERY_MS = 1000;
/** The queue counts as stuck when it has work and has finished none for this long, in milliseconds. */
const STUCK_AFTER_MS = 120_000;

/** Components that the leader runs: caches that put keys into queues, and two controllers that reconcile the keys. */
export class Controller {
  readonly #deps: ControllerDeps;
  readonly #informers: ControllerInformers;
  readonly #namespaces: WatchedNamespaces;
  readonly #demand: DemandWatch;
  readonly #plans: PlanController;
  readonly #planQueue: WorkQueue;
  readonly #poolQueue: WorkQueue;
  readonly #gauges: NodeJS.Timeout;
  /** The pool that holds each name, by name; undefined after a pool has come or gone, until it is needed. */
  #holders: ReadonlyMap<string, RenderPool> | undefined;
  #poolsInForce: PoolsInForce | undefined;
  /** The mirror's content at the start, which stays in force for namespaces that cannot be read. */
  #mirrored: MirroredSet | undefined;
  #held: HeldNames = NOTHING_HELD;
  #lastResultMs = performance.now();

  /** Begins to fill its caches. Nothing is written before `start`. */
  constructor(deps: ControllerDeps) {
    this.#deps = deps;
    const { api, clock, logger, metrics } = deps;
    const informers = startInformers(api, deps.namespaces, logger, (namespace) =>
      this.#namespaces.check(namespace),
    );
    this.#informers = informers;
    this.#namespaces = new WatchedNamespaces(deps.namespaces, informers.all, (namespace) =>
      this.#namespaceChanged(namespace),
    );
    const reportManaged = managedReporter(deps);
    this.#demand = new DemandWatch({
      read: deps.readDemand,
      clock,
      logger,
      onSnapshot: (changed) => this.#addPools(({ metadata }) => changed.has(metadata.name)),
    });
    this.#plans = new PlanController({
      ...deps,
      plans: informers.plans,
      poolsInForce: () => this.#pools(),
      heldPlans: () => this.#held.plans,
      demand: this.#demand,
      reportManaged,
      onMirrored: (changed) => {
        for (const key of changed) this.#planQueue.add(key);
        if (changed.length > 0) this.#addPools();
      },
    });
    const pools = new PoolController({
      ...deps,
      pools: informers.pools,
      pods: new PodIndex(informers.pods, (key) => this.#poolQueue.add(key)),
      owned: informers.owned,
      reportManaged,
      holderOf: (name) => this.#holderOf(name),
      namespaces: this.#namespaces,
      demand: this.#demand,
      requests: new WorkerRequests(deps.registry, logger),
      plansOf: (pool) => this.#plans.plansOf(pool),
    });
    const onResult = (controller: 'plans' | 'pools') => {
      const report = reportResults(controller, metrics, logger);
      return (result: Parameters<typeof report>[0]) => {
        this.#lastResultMs = performance.now();
        report(result);
      };
    };
    this.#planQueue = new WorkQueue({
      reconcile: (key, signal) => this.#plans.reconcile(key, signal),
      onResult: onResult('plans'),
    });
    this.#poolQueue = new WorkQueue({
      reconcile: (key, signal) => pools.reconcile(key, signal),
      perSecond: POOLS_PER_SECOND,
      burst: POOLS_PER_SECOND,
      workers: 8,
      onResult: onResult('pools'),
    });
    this.#listen();
    this.#gauges = setInterval(() => this.#setGauges(), GAUGES_EVERY_MS).unref();
  }

  /**
   * Starts work once the caches are full. Namespaces that cannot be read are not waited for: their plans and pools stay
   * in force.
   *
   * @throws the signal's reason, or when the mirror cannot be read.
   */
  async start(signal: AbortSignal): Promise<void> {
    await unlessAborted(signal, this.#namespaces.whenSettled());
    this.#mirrored = await this.#deps.mirror.own();
    this.#holdNames();
    signal.throwIfAborted();
    this.#demand.start();
    this.#planQueue.add(MIRROR);
    this.#planQueue.start();
    this.#poolQueue.start();
    this.#deps.logger.info('the controller works');
  }

  /** Has every pool reconciled again: something that holds for all pools has changed. */
  checkAgain(): void {
    this.#addPools();
  }

  /** @returns why the controller makes no progress, or undefined. */
  stuck(): string | undefined {
    const waits = this.#planQueue.length + this.#poolQueue.length > 0;
    return waits && performance.now() - this.#lastResultMs > STUCK_AFTER_MS
      ? 'controller: work waits, and none has been done lately'
      : undefined;
  }

  /** Aborts what is under way. Nothing is written any more once this resolves. */
  async stop(): Promise<void> {
    clearInterval(this.#gauges);
    await Promise.all([this.#planQueue.stop(), this.#poolQueue.stop(), this.#demand.stop()]);
    await Promise.all([...this.#informers.all.values()].map((informer) => informer.stop()));
  }

  #listen(): void {
    const { plans, pools, owned } = this.#informers;
    plans.onChange((key, now, before) => {
      if (isAnotherSpec(now, before)) this.#planQueue.add(MIRROR);
      this.#planQueue.add(key);
    });
    pools.onChange((key, now, before) => {
      this.#holders = undefined;
      if (isAnotherSpec(now, before)) {
        this.#poolsInForce = undefined;
        this.#planQueue.add(MIRROR);
        // Another pool may hold the name now.
        const name = (now ?? before)?.metadata.name;
        this.#addPools(({ metadata }) => metadata.name === name);
      }
      this.#poolQueue.add(key);
    });
    for (const informer of [owned.deployments, owned.budgets, owned.policies, owned.accounts]) {
      informer.onChange((_key: string, now: KubeObject | undefined, before: KubeObject | undefined) => {
        const metadata = (now ?? before)?.metadata;
        const pool = metadata?.labels?.[POOL_LABEL];
        if (metadata === undefined || pool === undefined) return;
        const { namespace } = metadata;
        this.#poolQueue.add(keyOf({ name: pool, ...(namespace !== undefined && { namespace }) }));
      });
    }
  }

  #addPools(which: (pool: RenderPool) => boolean = () => true): void {
    for (const pool of this.#informers.pools.all()) {
      if (which(pool)) this.#poolQueue.add(keyOf(pool.metadata));
    }
  }

  #namespaceChanged(namespace: string): void {
    const problem = this.#namespaces.problem(namespace);
    if (problem === undefined) this.#deps.logger.info({ namespace }, 'a namespace is readable');
    else this.#deps.logger.error({ namespace, problem }, 'a namespace cannot be read; it is left as it is');
    this.#holdNames();
    this.#planQueue.add(MIRROR);
    // Every pool reports it, and those of this namespace are reconciled from now on, or no longer.
    this.#addPools();
  }

  #holdNames(): void {
    const { plans, pools } = this.#informers;
    const unread = (informer: Pick<typeof plans | typeof pools, 'stateOf'>) =>
      new Set(this.#deps.namespaces.filter((name) => !informer.stateOf(name).listed));
    this.#held = heldNames(this.#mirrored, { plans: unread(plans), pools: unread(pools) });
    this.#holders = undefined;
    this.#poolsInForce = undefined;
  }

  #holderOf(name: string): NameHolder | undefined {
    this.#holders ??= holdersOfNames(this.#ownPools(), this.#deps.installation);
    const seen = this.#holders.get(name);
    const held = this.#held.pools.get(name);
    return isHeld(held, seen !== undefined) ? { metadata: { name, namespace: held.namespace } } : seen;
  }

  #ownPools(): RenderPool[] {
    return [...this.#informers.pools.all()].filter((pool) => isManageable(pool, this.#deps.installation));
  }

  #pools(): PoolsInForce {
    this.#poolsInForce ??= poolsInForce(this.#ownPools(), this.#deps.installation, this.#held.pools);
    return this.#poolsInForce;
  }

  #setGauges(): void {
    const { metrics, poolDemand, installation } = this.#deps;
    for (const [kind, { silentForMs }] of this.#informers.all) {
      if (Number.isFinite(silentForMs)) metrics.watchAge.set({ kind }, silentForMs / 1000);
    }
    for (const name of this.#deps.namespaces) {
      const isUnreadable = this.#namespaces.problem(name) !== undefined;
      metrics.namespaceUnreadable.set({ watched_namespace: name }, Number(isUnreadable));
    }
    for (const { kind, objects } of [
      { kind: 'RenderPlan', objects: this.#informers.plans.all() },
      { kind: 'RenderPool', objects: this.#informers.pools.all() },
    ]) {
      const others = [...objects].filter((object) => !isManageable(object, installation));
      metrics.managedElsewhere.set({ kind }, others.length);
    }
    const { latest, ageSeconds } = this.#demand;
    if (latest === undefined) return;
    metrics.demandAge.set(ageSeconds);
    poolDemand.reset();
    for (const { metadata } of this.#ownPools()) {
      poolDemand.set({ pool: metadata.name }, latest.byPool.get(metadata.name)?.demand ?? 0);
    }
  }
}

/**
 * Whether an object is new, gone, being deleted, managed by or assigned to another installation, or has another spec; any
 * other change of its status does not count.
 */
function isAnotherSpec(now: KubeObject | undefined, before: KubeObject | undefined): boolean {
  return (
    now === undefined ||
    now.metadata.generation !== before?.metadata.generation ||
    now.metadata.deletionTimestamp !== before?.metadata.deletionTimestamp ||
    now.metadata.uid !== before?.metadata.uid ||
    managerOf(now as RenderPool) !== managerOf(before as RenderPool) ||
    assigneeOf(now) !== assigneeOf(before as KubeObject)
  );
}
