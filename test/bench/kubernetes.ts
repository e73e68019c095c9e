/**
 * The controller with many pools: a real API server with its controllers and scheduler, nodes that KWOK pretends, and the
 * real controller in a process of its own. Printed are the times of its looks at pools, its calls of the API server, its
 * processor time and its memory: while everything is made, at rest, when every pool is edited, and after it was started
 * again.
 *
 * BENCH_POOLS (default 500), BENCH_WORKERS (of each pool, default 4), BENCH_IDLE_SECONDS (default 60).
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { startEmbeddedDatabase } from '../../src/infra/embedded-database/start-embedded.ts';
import type { KubeObject } from '../../src/infra/kube/client/kube-object.ts';
import type { New } from '../../src/infra/kube/client/kubernetes-api.ts';
import { openKubernetesApi } from '../../src/infra/kube/client/open-kubernetes-api.ts';
import { connectDatabase } from '../../src/infra/store/connection.ts';
import {
  DEPLOYMENTS,
  DISRUPTION_BUDGETS,
  NETWORK_POLICIES,
  PODS,
  RENDER_POOLS,
  SERVICE_ACCOUNTS,
} from '../../src/kubernetes/resources/kinds.ts';
import { eventually } from '../support/eventually.ts';
import { startControlPlane } from '../support/kubernetes/control-plane.ts';
import { makeNamespace } from '../support/kubernetes/objects.ts';
import { type RoleProcess, startRole } from '../support/processes.ts';
import { compare, type Measurement, memoryOf, read } from './controller-samples.ts';
import { startFakeNodes } from './fake-nodes.ts';
import { pretendWorkers } from './fake-workers.ts';

const POOLS = Number(process.env.BENCH_POOLS ?? 500);
const WORKERS = Number(process.env.BENCH_WORKERS ?? 4);
const IDLE_SECONDS = Number(process.env.BENCH_IDLE_SECONDS ?? 60);
const NODES = 20;
/** What Node gives itself in a pod with the chart's limit of 512 MiB. */
const HEAP_MB = 256;
const LIMIT_MS = 600_000;
const OWNED = [RENDER_POOLS, DEPLOYMENTS, DISRUPTION_BUDGETS, NETWORK_POLICIES, SERVICE_ACCOUNTS];

const WORKER_TEMPLATE = {
  metadata: { labels: { 'app.kubernetes.io/name': 'platen', 'app.kubernetes.io/instance': 'bench' } },
  spec: {
    containers: [
      {
        name: 'worker',
        image: 'platen:bench',
        args: ['worker'],
        ports: [{ name: 'ops', containerPort: 9090 }],
        env: [{ name: 'MONGODB_URI', value: 'mongodb://elsewhere/platen' }],
        readinessProbe: { httpGet: { path: '/readyz', port: 'ops' } },
      },
    ],
  },
};

const folder = await mkdtemp(join(tmpdir(), 'platen-bench-'));
const closing: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
try {
  await measure();
} finally {
  for (const close of closing.reverse()) await close();
}
process.exit(process.exitCode ?? 0);

async function measure(): Promise<void> {
  const logger = pino({ level: 'silent' });
  const database = await startEmbeddedDatabase({ dataDir: folder, logger });
  closing.push(() => database.close());
  const plane = await startControlPlane();
  closing.push(() => plane.stop());
  await plane.installCrds();
  const api = await openKubernetesApi({ kubeconfigPath: plane.kubeconfigPath });
  closing.push(() => api.close());
  const nodes = await startFakeNodes(plane, api, NODES);
  closing.push(() => nodes.stop());
  const connection = await connectDatabase(database.uri, logger);
  closing.push(() => connection.close());
  const namespace = await makeNamespace(api);
  const template = join(folder, 'worker-template.yaml');
  await writeFile(template, JSON.stringify(WORKER_TEMPLATE));

  const startController = async (): Promise<RoleProcess> => {
    const controller = await startRole('controller', {
      NODE_ENV: 'production',
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
      KUBECONFIG: plane.kubeconfigPath,
      MONGODB_URI: database.uri,
      POD_NAME: 'controller-0',
      POD_NAMESPACE: namespace,
      PLATEN_WORKER_TEMPLATE_FILE: template,
    });
    await controller.logged(({ msg }) => msg === 'the controller works', 60_000);
    return controller;
  };
  const versions = async () => {
    const lists = await Promise.all(OWNED.map((kind) => api.list<KubeObject>(kind, { namespace })));
    return lists.flat().map(({ kind, metadata }) => `${kind} ${metadata.name} ${metadata.resourceVersion}`);
  };
  const areReady = (workers: number) => async () => {
    const pools = await api.list(RENDER_POOLS, { namespace });
    return pools.every(({ status }) => status?.readyReplicas === workers);
  };
  let controller = await startController();
  closing.push(() => controller.end());

  /** Lets something happen, and prints what it cost. */
  const phase = async (name: string, happen: (from: Measurement) => Promise<void>): Promise<number> => {
    const before = await read(controller.url, controller.pid);
    await happen(before);
    const { writes, text } = compare(before, await read(controller.url, controller.pid));
    const { nowMb, peakMb } = memoryOf(controller.pid);
    console.log(`  ${name}: ${text}\n    ${nowMb.toFixed(0)} MB in memory, ${peakMb.toFixed(0)} at most`);
    return writes;
  };
  const atRest = async (name: string) => {
    const before = await versions();
    const writes = await phase(name, () => sleep(IDLE_SECONDS * 1000));
    const after = new Set(await versions());
    const changed = before.filter((version) => !after.has(version));
    // The Lease is renewed every two seconds.
    const renewals = Math.ceil(IDLE_SECONDS / 2) + 1;
    const isQuiet = changed.length === 0 && writes <= renewals;
    console.log(
      `    ${changed.length} of ${before.length} objects changed, ${writes} writes for at most ${renewals} renewals of the Lease: ${isQuiet ? 'reached' : `MISSED (${changed.slice(0, 3).join(', ')})`}`,
    );
    if (!isQuiet) process.exitCode = 1;
  };

  console.log(`\nThe controller with ${POOLS} pools of ${WORKERS} workers`);
  await phase('from nothing to all workers ready', async () => {
    await alternately(POOLS, (n) => api.create<KubeObject>(RENDER_POOLS, poolOf(namespace, n)));
    await eventually('the workers', areReady(WORKERS), LIMIT_MS);
  });
  const pods = await api.list(PODS, { namespace });
  const workers = await pretendWorkers(connection, pods);
  closing.push(() => workers.stop());
  // Counts and conditions are told at their own pace.
  await sleep(15_000);
  await atRest('at rest');
  await phase('another image for every pool, until all are ready again', async () => {
    await alternately(POOLS, (n) =>
      api.mergePatch(RENDER_POOLS, poolOf(namespace, n).metadata, { spec: { image: 'platen:next' } }),
    );
    await eventually(
      'the new workers',
      async () => {
        const deployments = await api.list(DEPLOYMENTS, { namespace });
        return deployments.every(({ spec, status }) => {
          const wanted = JSON.stringify(spec).includes('platen:next');
          return wanted && (status as { updatedReplicas?: number } | undefined)?.updatedReplicas === WORKERS;
        });
      },
      LIMIT_MS,
    );
    await eventually('all ready', areReady(WORKERS), LIMIT_MS);
  });
  await controller.end();
  controller = await startController();
  await sleep(15_000);
  await atRest('at rest, after it was started again');
}

function poolOf(namespace: string, n: number): New<KubeObject> {
  const pool = {
    apiVersion: 'platen.dev/v1alpha1',
    kind: 'RenderPool',
    metadata: { namespace, name: `pool-${n}` },
    spec: { minReplicas: WORKERS, maxReplicas: 2 * WORKERS },
  };
  return pool;
}

async function alternately(count: number, run: (n: number) => Promise<unknown>): Promise<void> {
  const together = 10;
  for (let from = 0; from < count; from += together) {
    const size = Math.min(together, count - from);
    await Promise.all(Array.from({ length: size }, (_, n) => run(from + n)));
  }
}
