import { unlessAborted } from '../async/unless-aborted.ts';
import type { Clock } from '../clock.ts';
import type { DemandReading } from '../jobs/demand.ts';
import type { MirroredSet, PlanMirror } from '../plans/plan-mirror.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { WorkerRegistry } from '../workers/worker-registry.ts';
import type { EventRecorder } from './client/event-recorder.ts';
import { type KubeObject, keyOf } from './client/kube-object.ts';
import type { KubernetesApi } from './client/kubernetes-api.ts';
import { type ControllerInformers, startInformers } from './controller-informers.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import { DemandWatch } from './demand-watch.ts';
import { type HeldNames, heldNames, isHeld, NOTHING_HELD } from './held-names.ts';
import { MIRROR, PlanController } from './plans/plan-controller.ts';
import type { NameHolder } from './pools/accept-pool.ts';
import { POOL_LABEL } from './pools/names.ts';
import type { PoolsSettings } from './pools/owned-objects.ts';
import { PodIndex } from './pools/pod-index.ts';
import { PoolController } from './pools/pool-controller.ts';
import { type PoolsInForce, poolsInForce } from './pools/pools-in-force.ts';
import { WorkerRequests } from './pools/worker-requests.ts';
import { WorkQueue } from './queue/work-queue.ts';
import { reportResults } from './report-results.ts';
import type { RenderPool } from './resources/kinds.ts';
import { holdersOfNames } from './resources/names-taken.ts';
import { WatchedNamespaces } from './watched-namespaces.ts';

export interface ControllerParts {
  readonly api: KubernetesApi;
  /** Whose plans and pools are looked after. */
  readonly namespaces: readonly string[];
  readonly mirror: Pick<PlanMirror, 'read' | 'write'>;
  readonly registry: Pick<WorkerRegistry, 'requestPause' | 'cancelPause'>;
  readonly countAccounts: (plan: string) => Promise<number>;
  /** @throws when it cannot be read whole. */
  readonly readDemand: () => Promise<DemandReading>;
  readonly settings: () => PoolsSettings | { readonly fault: string };
  readonly events: EventRecorder;
  readonly metrics: ControllerMetrics;
  readonly poolDemand: Metrics['poolDemand'];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Looks at pools per second in the long run: 500 pools each second, and some more for what happens to them. */
const POOLS_PER_SECOND = 1000;
const GAUGES_EVERY_MS = 1000;
/** Work waits, and none has been done for so long: something hangs. */
const STUCK_AFTER_MS = 120_000;

/** What the leader runs: caches that put keys into queues, and the two controllers that look at them. */
export class Controller {
  readonly #parts: ControllerParts;
  readonly #informers: ControllerInformers;
  readonly #namespaces: WatchedNamespaces;
  readonly #demand: DemandWatch;
  readonly #plans: PlanController;
  readonly #planQueue: WorkQueue;
  readonly #poolQueue: WorkQueue;
  readonly #gauges: NodeJS.Timeout;
  /** By name, of all pools; made again when a pool comes or goes. */
  #holders: ReadonlyMap<string, RenderPool> | undefined;
  #poolsInForce: PoolsInForce | undefined;
  /** What was mirrored when it began, of which namespaces that cannot be read keep their part. */
  #mirrored: MirroredSet | undefined;
  #held: HeldNames = NOTHING_HELD;
  #lastResultMs = performance.now();

  /** Begins to fill its caches. Nothing is written before `start`. */
  constructor(parts: ControllerParts) {
    this.#parts = parts;
    const { api, clock, logger, metrics } = parts;
    const informers = startInformers(api, parts.namespaces, logger, (namespace) =>
      this.#namespaces.look(namespace),
    );
    this.#informers = informers;
    this.#namespaces = new WatchedNamespaces(parts.namespaces, informers.all, (namespace) =>
      this.#namespaceChanged(namespace),
    );
    this.#demand = new DemandWatch({
      read: parts.readDemand,
      clock,
      logger,
      onSnapshot: (changed) => this.#addPools(({ metadata }) => changed.has(metadata.name)),
    });
    this.#plans = new PlanController({
      ...parts,
      plans: informers.plans,
      poolsInForce: () => this.#pools(),
      heldPlans: () => this.#held.plans,
      demand: this.#demand,
      onMirrored: (changed) => {
        for (const key of changed) this.#planQueue.add(key);
        if (changed.length > 0) this.#addPools();
      },
    });
    const pools = new PoolController({
      ...parts,
      pools: informers.pools,
      pods: new PodIndex(informers.pods, (key) => this.#poolQueue.add(key)),
      owned: informers.owned,
      holderOf: (name) => this.#holderOf(name),
      namespaces: this.#namespaces,
      demand: this.#demand,
      requests: new WorkerRequests(parts.registry, logger),
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
   * Begins to work once the caches are full, but for namespaces that cannot be read: what is in force of those stays so.
   *
   * @throws the signal's reason, or when the mirror cannot be read.
   */
  async start(signal: AbortSignal): Promise<void> {
    await unlessAborted(signal, this.#namespaces.whenSettled());
    this.#mirrored = await this.#parts.mirror.read();
    this.#holdNames();
    signal.throwIfAborted();
    this.#demand.start();
    this.#planQueue.add(MIRROR);
    this.#planQueue.start();
    this.#poolQueue.start();
    this.#parts.logger.info('the controller works');
  }

  /** Everything is to be looked at again: something that holds for all pools has changed. */
  lookAgain(): void {
    this.#addPools();
  }

  /** Why it makes no progress, or undefined. */
  stuck(): string | undefined {
    const waits = this.#planQueue.length + this.#poolQueue.length > 0;
    return waits && performance.now() - this.#lastResultMs > STUCK_AFTER_MS
      ? 'controller: work waits, and none has been done lately'
      : undefined;
  }

  /** Nothing is written any more once this resolves; what is under way is broken off. */
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
        // Another one may have the name now.
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
    if (problem === undefined) this.#parts.logger.info({ namespace }, 'a namespace is readable');
    else this.#parts.logger.error({ namespace, problem }, 'a namespace cannot be read; it is left as it is');
    this.#holdNames();
    this.#planQueue.add(MIRROR);
    // All of them tell of it, and those of this namespace are worked on from now on, or no longer.
    this.#addPools();
  }

  #holdNames(): void {
    const { plans, pools } = this.#informers;
    const unread = (informer: Pick<typeof plans | typeof pools, 'stateOf'>) =>
      new Set(this.#parts.namespaces.filter((name) => !informer.stateOf(name).listed));
    this.#held = heldNames(this.#mirrored, { plans: unread(plans), pools: unread(pools) });
    this.#holders = undefined;
    this.#poolsInForce = undefined;
  }

  #holderOf(name: string): NameHolder | undefined {
    this.#holders ??= holdersOfNames(this.#informers.pools.all());
    const seen = this.#holders.get(name);
    const held = this.#held.pools.get(name);
    return isHeld(held, seen !== undefined) ? { metadata: { name, namespace: held.namespace } } : seen;
  }

  #pools(): PoolsInForce {
    this.#poolsInForce ??= poolsInForce(this.#informers.pools.all(), this.#held.pools);
    return this.#poolsInForce;
  }

  #setGauges(): void {
    const { metrics, poolDemand } = this.#parts;
    for (const [kind, { silentForMs }] of this.#informers.all) {
      if (Number.isFinite(silentForMs)) metrics.watchAge.set({ kind }, silentForMs / 1000);
    }
    for (const name of this.#parts.namespaces) {
      const isUnreadable = this.#namespaces.problem(name) !== undefined;
      metrics.namespaceUnreadable.set({ watched_namespace: name }, Number(isUnreadable));
    }
    const { latest, ageSeconds } = this.#demand;
    if (latest === undefined) return;
    metrics.demandAge.set(ageSeconds);
    poolDemand.reset();
    for (const { metadata } of this.#informers.pools.all()) {
      poolDemand.set({ pool: metadata.name }, latest.byPool.get(metadata.name)?.demand ?? 0);
    }
  }
}

/** Whether an object is new, gone, about to go, or says something else; its status alone is no reason. */
function isAnotherSpec(now: KubeObject | undefined, before: KubeObject | undefined): boolean {
  return (
    now === undefined ||
    now.metadata.generation !== before?.metadata.generation ||
    now.metadata.deletionTimestamp !== before?.metadata.deletionTimestamp ||
    now.metadata.uid !== before?.metadata.uid
  );
}
