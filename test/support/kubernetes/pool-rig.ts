import { randomUUID } from 'node:crypto';
import type { Connection } from 'mongoose';
import { pino } from 'pino';
import { Semaphore } from '../../../src/infra/async/semaphore.ts';
import { systemClock } from '../../../src/infra/clock.ts';
import type { KubernetesApi } from '../../../src/infra/kube/client/kubernetes-api.ts';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { DELETION_COST, workersOf } from '../../../src/kubernetes/pools/labels.ts';
import { API_VERSION } from '../../../src/kubernetes/resources/group.ts';
import {
  DEPLOYMENTS,
  type Deployment,
  PODS,
  type Pod,
  RENDER_PLANS,
  RENDER_POOLS,
  type RenderPlan,
  type RenderPool,
} from '../../../src/kubernetes/resources/kinds.ts';
import { WorkerRegistry, type WorkerState } from '../../../src/work/pools/worker-registry.ts';

const HASH = '7d9f8b6c5d';

/** A worker that runs nothing, and says what a test wants it to say. */
interface StandIn {
  readonly pod: string;
  readonly pool: string;
  busy: number;
  state: WorkerState;
}

/**
 * What a cluster adds to an API server, for one namespace: pods for a Deployment's replicas, and in each a worker that
 * reports to the registry and obeys it.
 */
export class PoolRig {
  readonly #api: KubernetesApi;
  readonly #namespace: string;
  readonly #connection: Connection;
  readonly #registry: WorkerRegistry;
  readonly #workers = new Map<string, StandIn>();
  #timer: NodeJS.Timeout | undefined;
  /** One after the other: an older state must not arrive after a newer one. */
  readonly #reports = new Semaphore(1);
  /** Workers that have been up for as long as this are no longer young, in milliseconds. */
  ageMs = 60_000;

  private constructor(api: KubernetesApi, namespace: string, connection: Connection) {
    this.#api = api;
    this.#namespace = namespace;
    this.#connection = connection;
    this.#registry = new WorkerRegistry(connection, systemClock);
  }

  static async open(api: KubernetesApi, namespace: string, mongoUri: string): Promise<PoolRig> {
    const rig = new PoolRig(api, namespace, await connectDatabase(mongoUri, pino({ level: 'silent' })));
    rig.#timer = setInterval(() => {
      if (rig.#reports.idle) void rig.#report().catch(() => undefined);
    }, 300);
    return rig;
  }

  get connection(): Connection {
    return this.#connection;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#connection.close();
  }

  createPool(name: string, spec: Partial<RenderPool['spec']> = {}): Promise<RenderPool> {
    const metadata = { namespace: this.#namespace, name };
    const object = {
      apiVersion: API_VERSION,
      kind: 'RenderPool',
      metadata,
      spec: spec as RenderPool['spec'],
    };
    return this.#api.create(RENDER_POOLS, object);
  }

  createPlan(name: string, spec: RenderPlan['spec']): Promise<RenderPlan> {
    const metadata = { namespace: this.#namespace, name };
    return this.#api.create(RENDER_PLANS, { apiVersion: API_VERSION, kind: 'RenderPlan', metadata, spec });
  }

  async pool(name: string): Promise<RenderPool> {
    const found = await this.#api.get(RENDER_POOLS, { namespace: this.#namespace, name });
    if (found === undefined) throw new Error(`there is no pool ${name}`);
    return found;
  }

  async plan(name: string): Promise<RenderPlan | undefined> {
    return this.#api.get(RENDER_PLANS, { namespace: this.#namespace, name });
  }

  async deployment(pool: string): Promise<Deployment | undefined> {
    return this.#api.get(DEPLOYMENTS, { namespace: this.#namespace, name: workersOf(pool) });
  }

  async pods(pool: string): Promise<Pod[]> {
    return this.#api.list(PODS, { namespace: this.#namespace, labelSelector: `platen.dev/pool=${pool}` });
  }

  /** What a pool says of itself, and the size of its Deployment, in one line. */
  async summary(pool: string): Promise<string> {
    const { conditions = [] } = (await this.pool(pool)).status ?? {};
    const replicas = (await this.deployment(pool))?.spec.replicas;
    return [
      `${replicas} replicas`,
      ...conditions.map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`),
    ].join('; ');
  }

  /** Makes exactly these pods busy; resolves when they have reported it. */
  async setBusy(pods: readonly string[], busy = 1): Promise<void> {
    for (const worker of this.#workers.values()) worker.busy = pods.includes(worker.pod) ? busy : 0;
    await this.#report();
  }

  /** What a ReplicaSet and a kubelet do: as many pods as replicas, ready; the cheapest goes first. */
  async settle(pool: string, wrongly = false): Promise<void> {
    const deployment = await this.deployment(pool);
    const pods = await this.pods(pool);
    const wanted = deployment?.spec.replicas ?? 0;
    const costOf = ({ metadata }: Pod) => Number(metadata.annotations?.[DELETION_COST] ?? 0);
    pods.sort((a, b) => (wrongly ? costOf(b) - costOf(a) : costOf(a) - costOf(b)));
    for (const { metadata } of pods.slice(0, Math.max(0, pods.length - wanted))) {
      await this.#api.delete(PODS, metadata, { gracePeriodSeconds: 0 });
      this.#workers.delete(metadata.name);
    }
    for (let more = pods.length; more < wanted; more += 1) await this.#addPod(pool);
    if (deployment === undefined) return;
    const status = {
      replicas: wanted,
      readyReplicas: wanted,
      updatedReplicas: wanted,
      observedGeneration: deployment.metadata.generation,
    };
    await this.#api.mergePatch(DEPLOYMENTS, deployment.metadata, { status }, { subresource: 'status' });
    await this.#report();
  }

  async #addPod(pool: string): Promise<void> {
    const name = `${workersOf(pool)}-${HASH}-${randomUUID().slice(0, 5)}`;
    const owner = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      name: `${workersOf(pool)}-${HASH}`,
      uid: randomUUID(),
    };
    const template = (await this.deployment(pool))?.spec.template;
    const pod = await this.#api.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        namespace: this.#namespace,
        name,
        labels: { ...template?.metadata?.labels, 'pod-template-hash': HASH },
        ownerReferences: [{ ...owner, controller: true }],
      },
      spec: { containers: [{ name: 'worker', image: 'platen:test' }], automountServiceAccountToken: false },
    } as Pod);
    const conditions = ['Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({ type, status: 'True' }));
    await this.#api.mergePatch(
      PODS,
      pod.metadata,
      { status: { phase: 'Running', conditions } },
      { subresource: 'status' },
    );
    this.#workers.set(name, { pod: name, pool, busy: 0, state: 'claiming' });
  }

  #report(): Promise<void> {
    return this.#reports.run(() => this.#reportEach());
  }

  async #reportEach(): Promise<void> {
    for (const worker of [...this.#workers.values()]) {
      // It may have gone since.
      if (this.#workers.get(worker.pod) !== worker) continue;
      const said = await this.#registry.report({
        _id: `w-${worker.pod}`,
        pool: worker.pool,
        pod: worker.pod,
        namespace: this.#namespace,
        node: null,
        slots: 2,
        busy: worker.busy,
        state: worker.state,
        startedAt: new Date(Date.now() - this.ageMs),
        sandbox: 'on',
        browser: null,
      });
      worker.state = said.pauseRequested ? 'paused' : 'claiming';
    }
  }
}
