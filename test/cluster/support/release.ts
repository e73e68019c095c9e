import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { killProcess } from '../../../src/render/chromium/process/processes.ts';
import { AccountClient, PASSWORD } from '../../support/account-client.ts';
import { TestClient } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { BIN } from '../../support/kubernetes/program.ts';
import { procFile } from '../../support/processes.ts';
import { send } from '../../support/send.ts';
import type { Cluster } from './cluster.ts';
import type { Peers } from './peers.ts';
import { processesIn } from './power-cut.ts';

export const CHART = fileURLToPath(new URL('../../../charts/platen', import.meta.url));
/** Of --wait; the process itself gets longer. */
const HELM_WAIT = '5m';
const HELM_TIMEOUT_MS = 330_000;
/** In milliseconds: what has not happened by then never will. Nothing here has to be faster. */
export const HUNG_MS = 300_000;
/** As callers have it: what a Service leads to may be no more. A render that is waited for takes 25 s at most. */
const SILENT_MS = 45_000;
/** A request that costs nothing. */
const PROMPT_MS = 10_000;
/** Connections that the callers of a case keep. */
const KEPT_AT_MOST = 16;
const NAME = 'platen';
const BUCKET_SECRET = 'platen-bucket';

/** What an account on the plan business may run at a time here. */
export const BUSINESS_SLOTS = 6;
export const SLOTS_PER_WORKER = 2;
/** Of the image that is installed. */
export const TAG = 'e2e';
/** Another name of the same image, which every node has as well. */
export const NEXT_TAG = 'e2e-next';

/** Of a pool that follows its demand without patience. */
export const QUICK_POOL = {
  targetUtilisation: 100,
  headroomSlots: 0,
  scaleDown: { stabilisationSeconds: 3, maxPercent: 100, periodSeconds: 3 },
  workerYoungSeconds: 3,
  terminationGracePeriodSeconds: 60,
};

/** What the tests install: such a pool that follows its demand without patience, and plans that do not wait for a minute. */
export const VALUES = {
  defaultResources: {
    pools: {
      default: {
        ...QUICK_POOL,
        minReplicas: 1,
        maxReplicas: 6,
        slotsPerWorker: SLOTS_PER_WORKER,
      },
    },
    plans: {
      free: { requestsPerMinute: 1000 },
      business: { requestsPerMinute: 10_000, concurrentRenders: BUSINESS_SLOTS },
    },
  },
};

/** The fields of a pod that the tests read. */
export interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly { readonly kind: string }[];
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly securityContext?: { readonly seccompProfile?: { readonly localhostProfile?: string } };
    readonly containers: readonly {
      readonly image: string;
      readonly env?: readonly { readonly name: string; readonly value?: string }[];
    }[];
  };
  readonly status: {
    readonly phase: string;
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly {
      readonly restartCount: number;
      readonly state?: { readonly running?: { readonly startedAt: string } };
    }[];
  };
}

/** The versions that scripts/install-go-programs.mjs builds. */
export type HelmVersion = 'helm3' | 'helm4';

/** A person with an account: signed in, and with an API key. */
export class Tenant extends TestClient {
  readonly owner: AccountClient;

  constructor(owner: AccountClient, key: string) {
    super(owner.url, key, SILENT_MS);
    this.owner = owner;
  }

  /** What has come out for the account and counts against its quota. */
  async completed(): Promise<number> {
    return (await this.owner.expect(200, 'GET', '/user/usage?period=1d')).successCount;
  }
}

/** Where a release is, and by which chart. */
export interface Target {
  readonly namespace: string;
  readonly chart: string;
  /** Of its database; topics have it in front of their names. */
  readonly data: string;
}

const TARGET: Target = { namespace: 'platen', chart: CHART, data: 'platen' };

/** Platen, as its chart installs it. */
export class Release {
  readonly cluster: Cluster;
  readonly peers: Peers;
  readonly target: Target;
  #helm: HelmVersion;
  #url: string | undefined;
  #installed: Promise<number> | undefined;

  constructor(cluster: Cluster, peers: Peers, helm: HelmVersion, target = TARGET) {
    this.cluster = cluster;
    this.peers = peers;
    this.target = target;
    this.#helm = helm;
  }

  get helmVersion(): HelmVersion {
    return this.#helm;
  }

  /** Chooses the version of Helm for later installations and upgrades. */
  useHelm(helm: HelmVersion): void {
    this.#helm = helm;
  }

  /** Of the Service, from where every node can reach it. */
  get url(): string {
    assert.ok(this.#url, 'the release is not installed');
    return this.#url;
  }

  /** kubectl in the namespace of the release. */
  kubectl(...args: string[]): Promise<string> {
    return this.cluster.plane.kubectl('--namespace', this.target.namespace, ...args);
  }

  /** An object or list as the API server has it. */
  async get<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.kubectl('get', ...args, '-o', 'json'));
  }

  async helm(...args: string[]): Promise<string> {
    const common = ['--kubeconfig', this.cluster.plane.kubeconfigPath, '--namespace', this.target.namespace];
    try {
      const options = { timeout: HELM_TIMEOUT_MS };
      return (await promisify(execFile)(join(BIN, this.#helm), [...args, ...common], options)).stdout;
    } catch (error) {
      console.log(await this.describe());
      throw error;
    }
  }

  /** Installs `VALUES` unless that has been done, until a worker is ready too. @returns how long it took when it was done, in ms. */
  installed(): Promise<number> {
    this.#installed ??= (async () => {
      const started = performance.now();
      await this.install(VALUES);
      await this.hasPods('worker', 1, HUNG_MS);
      return performance.now() - started;
    })();
    return this.#installed;
  }

  /** `helm install` with values over those that this machine needs, until everything is ready. */
  async install(values: object = {}): Promise<void> {
    await this.#makeBucketSecret();
    await this.helm(
      ...['install', NAME, this.target.chart, '--create-namespace', '--wait', '--timeout', HELM_WAIT],
      ...(await this.#valueFlags(values)),
    );
    const service = await this.get<{ spec: { clusterIP: string } }>('service', NAME);
    this.#url = `http://${service.spec.clusterIP}`;
    // Every node knows the way to it a moment after its pods are ready.
    const responses = () =>
      send(this.url, 'GET', '/openapi.json').then(
        ({ status }) => status === 200,
        () => false,
      );
    await eventually('the Service leads to the API', responses, HUNG_MS);
  }

  /** `helm upgrade` with values of its own laid over what this machine needs, until everything is ready. */
  async upgrade(values: object = {}): Promise<void> {
    const flags = await this.#valueFlags(values);
    await this.helm('upgrade', NAME, this.target.chart, '--wait', '--timeout', HELM_WAIT, ...flags);
  }

  async #valueFlags(values: object): Promise<string[]> {
    const files = { 'base.json': this.#baseValues(), 'own.json': values };
    const flags: string[] = [];
    for (const [name, content] of Object.entries(files)) {
      flags.push('--values', await this.cluster.write(name, content));
    }
    return flags;
  }

  /** What whoever installs makes before: the Secret of a bucket, in the namespace. */
  async #makeBucketSecret(): Promise<void> {
    if (this.peers.bucket === undefined) return;
    const { namespace } = this.target;
    const items = [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: BUCKET_SECRET, namespace },
        stringData: this.peers.bucket.credentials,
      },
    ];
    const file = await this.cluster.write('bucket.json', { apiVersion: 'v1', kind: 'List', items });
    await this.cluster.plane.kubectl('apply', '--filename', file);
  }

  /** The chart's `outputs`: a bucket, where there is one. */
  #outputs(): object {
    if (this.peers.bucket === undefined) return {};
    const own = { prefix: `${this.target.data}/`, existingSecret: { name: BUCKET_SECRET } };
    return { outputs: { store: 's3', s3: { ...this.peers.bucket.values, ...own } } };
  }

  /** The peers' addresses, and the image; small CPU requests, since all pods share the processors. */
  #baseValues(): object {
    const resources = { requests: { cpu: '10m', memory: '64Mi' } };
    const { data } = this.target;
    const mongodb = new URL(this.peers.mongodbUri);
    mongodb.pathname = data;
    return {
      image: { repository: 'docker.io/library/platen', tag: TAG, pullPolicy: 'Never' },
      mongodb: { uri: mongodb.href },
      kafka: { brokers: this.peers.brokers, topics: { prefix: data } },
      ...this.#outputs(),
      // All accounts of the tests are opened from one address.
      config: { registrationsPerAddress: 1000 },
      api: { resources },
      dispatcher: { resources },
      controller: { resources },
      worker: { resources, sandbox: { kubeletSeccompDir: this.cluster.seccompFolder } },
    };
  }

  /** The pods of a role, without ending ones. */
  async pods(component: string, more = ''): Promise<Pod[]> {
    const selector = `app.kubernetes.io/instance=${NAME},app.kubernetes.io/component=${component}${more}`;
    const path = `/api/v1/namespaces/${this.target.namespace}/pods?labelSelector=${encodeURIComponent(selector)}`;
    const { items } = await this.cluster.plane.read<{ items: Pod[] }>(path);
    return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  /** The pods of a role that are ready. */
  async readyPods(component: string, more = ''): Promise<Pod[]> {
    return (await this.pods(component, more)).filter(isReady);
  }

  /** Resolves when a role has this many ready pods, and no others. */
  async hasPods(component: string, count: number, limitMs: number, more = ''): Promise<void> {
    await eventually(
      `${count} ready ${component} pods`,
      async () => {
        const pods = await this.pods(component, more);
        return pods.length === count && pods.every(isReady);
      },
      limitMs,
    );
  }

  /** The present state of the cluster, for the message of a failure. */
  async describe(): Promise<string> {
    const asked = [
      ['get', 'pods,renderpools,renderplans', '-o', 'wide'],
      ['get', 'events', '--field-selector=type!=Normal'],
      ...['api', 'dispatcher', 'controller'].map((role) => [
        'logs',
        `deployment/${NAME}-${role}`,
        '--tail=5',
      ]),
      ['logs', '--selector=app.kubernetes.io/component=worker', '--tail=5'],
    ];
    const responses = await Promise.all(asked.map((args) => this.kubectl(...args).catch(String)));
    return responses.join('\n');
  }

  /** The processes of a pod's containers, by their ids on this machine, without the pause process. */
  processesOf({ metadata }: Pick<Pod, 'metadata'>): string[] {
    return processesIn(`pod${metadata.uid}/`).filter((pid) => !procFile(pid, 'cmdline').startsWith('/pause'));
  }

  /** Kills every process of a pod's containers as the kernel does, without a word to it or to the API server. */
  killProcesses({ metadata }: Pick<Pod, 'metadata'>): void {
    const processes = this.processesOf({ metadata });
    assert.ok(processes.length > 0, `${metadata.name} has no process`);
    // The end of the first may end the others.
    for (const pid of processes) killProcess(Number(pid));
  }

  /**
   * Opens an account on a plan, and gives it an API key. The plan is in force when this resolves. Repeated once without
   * a response: the Service's endpoint may have vanished.
   */
  async openAccount(plan: string): Promise<Tenant> {
    return await this.#openAccount(plan).catch((error: Error) => {
      if (error.name !== 'TimeoutError') throw error;
      console.log('      the Service did not answer in time, and is asked again');
      return this.#openAccount(plan);
    });
  }

  async #openAccount(plan: string): Promise<Tenant> {
    const email = `${randomUUID()}@example.com`;
    const account = { email, password: PASSWORD };
    const registered = await send(this.url, 'POST', '/auth/register', account, {}, SILENT_MS);
    assert.equal(registered.status, 201);
    const owner = new AccountClient(this.url, registered.json.accessToken);
    if (plan !== 'free') await this.setPlan(email, plan);
    const { apiKey } = await owner.expect(201, 'POST', '/user/api-keys', { name: plan, mode: 'live' });
    return new Tenant(owner, apiKey);
  }

  /**
   * Abandons kept connections to vanished endpoints of the Service: each of several concurrent requests has its own
   * connection, and one without a response is closed.
   */
  async leaveDeadConnections(): Promise<void> {
    const ask = () => send(this.url, 'GET', '/openapi.json', undefined, {}, PROMPT_MS);
    const allResponse = async () => {
      const responses = await Promise.allSettled(Array.from({ length: KEPT_AT_MOST }, ask));
      return responses.every(({ status }) => status === 'fulfilled');
    };
    await eventually('every connection leads somewhere', allResponse, HUNG_MS);
  }

  /** The same caller at the Service of the present, or at another address. */
  at({ owner, key }: Tenant, url = this.url): Tenant {
    return new Tenant(owner.at(url), key);
  }

  /** `kubectl apply`. */
  async apply(object: {
    readonly kind: string;
    readonly metadata: { readonly name: string };
  }): Promise<void> {
    const file = await this.cluster.write(`${object.kind}-${object.metadata.name}.json`, object);
    await this.kubectl('apply', '--filename', file);
  }

  /** The sum of a metric over all its series, of pods that are ready; 0 when there is none. */
  async metric(name: string, pods: readonly Pod[]): Promise<number> {
    let sum = 0;
    for (const { status } of pods) {
      const { bytes } = await send(`http://${status.podIP}:9090`, 'GET', '/metrics');
      for (const line of Buffer.from(bytes).toString().split('\n')) {
        if (line.startsWith(name) && !/[a-z_]/.test(line[name.length] ?? ''))
          sum += Number(line.split(' ').at(-1));
      }
    }
    return sum;
  }

  /** Puts an account on a plan, by the command that operators have for it. */
  async setPlan(email: string, plan: string): Promise<void> {
    await this.kubectl(
      ...['exec', `deployment/${NAME}-api`, '--', 'node', '/app/dist/main.js', 'accounts'],
      ...['set-plan', email, plan],
    );
  }
}

function isReady({ status }: Pod): boolean {
  return status.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false;
}
