import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { stringify } from 'yaml';
import type { KubernetesApi } from '../../../src/infra/kube/client/kubernetes-api.ts';
import { openKubernetesApi } from '../../../src/infra/kube/client/open-kubernetes-api.ts';
import { DELETION_COST, workersOf } from '../../../src/kubernetes/pools/labels.ts';
import { DEPLOYMENTS, PODS, type Pod } from '../../../src/kubernetes/resources/kinds.ts';
import type { RenderPoolSpec } from '../../../src/kubernetes/resources/render-pool.ts';
import { eventually } from '../../support/eventually.ts';
import { startControlPlane } from '../../support/kubernetes/control-plane.ts';
import { startRole } from '../../support/processes.ts';
import type { TestService } from '../../support/service.ts';
import type { TestPrometheus } from './prometheus.ts';

const NAMESPACE = 'default';
const DEPLOYMENT = workersOf('default');
const HASH = '6f4b9d7c8';
const WORKER_TEMPLATE = {
  spec: {
    containers: [
      { name: 'worker', image: 'platen', args: ['worker'], ports: [{ name: 'ops', containerPort: 9090 }] },
    ],
  },
};

export interface ManagedPool {
  stop(): Promise<void>;
}

/**
 * Gives a service's workers to the real controller, over a real API server. There is no kubelet: this starts and ends
 * worker processes as the Deployment of the pool asks, and says of its pods what a kubelet would.
 *
 * @param service with the workers worker-1 to worker-`minReplicas`.
 * @param prometheus scrapes the controller and every worker that comes.
 */
export async function managePool(
  service: TestService,
  prometheus: TestPrometheus,
  spec: Partial<RenderPoolSpec>,
): Promise<ManagedPool> {
  const folder = await mkdtemp(join(tmpdir(), 'platen-controller-'));
  const plane = await startControlPlane();
  await plane.installCrds();
  const api = await openKubernetesApi({ kubeconfigPath: plane.kubeconfigPath });
  const file = async (name: string, content: unknown) => {
    const path = join(folder, name);
    await writeFile(path, stringify(content));
    return path;
  };
  const controller = await startRole('controller', {
    KUBECONFIG: plane.kubeconfigPath,
    MONGODB_URI: service.mongodbUri,
    POD_NAME: 'controller',
    POD_NAMESPACE: NAMESPACE,
    PLATEN_WORKER_TEMPLATE_FILE: await file('worker-template.yaml', WORKER_TEMPLATE),
    PLATEN_DEFAULT_RESOURCES_FILE: await file('defaults.yaml', [
      { apiVersion: 'platen.dev/v1alpha1', kind: 'RenderPool', metadata: { name: 'default' }, spec },
    ]),
  });
  const stopping = new AbortController();
  const following = follow(api, service, stopping.signal, () =>
    prometheus.scrape(
      [...service.roles, ['controller', controller] as const].map(([pod, { url }]) => ({ pod, url })),
    ),
  );
  const stop = async () => {
    stopping.abort();
    await following;
    await controller.end();
    await api.close();
    await plane.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await controller.ready();
    await eventually('the pool has the pods that it asks for', async () => {
      const { ready, wanted } = await size(api);
      return wanted === spec.minReplicas && ready === wanted;
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
}

async function size(api: KubernetesApi) {
  const deployment = await api.get(DEPLOYMENTS, { namespace: NAMESPACE, name: DEPLOYMENT });
  const pods = await api.list(PODS, { namespace: NAMESPACE });
  const ready = pods.filter(({ status }) => status?.phase === 'Running').length;
  return { deployment, pods, ready, wanted: deployment?.spec.replicas };
}

/** Until it is told to stop: as many workers as replicas, the cheapest to go first. */
async function follow(
  api: KubernetesApi,
  service: TestService,
  signal: AbortSignal,
  onChange: () => Promise<void>,
): Promise<void> {
  await onChange();
  while (!signal.aborted) {
    const { deployment, pods, wanted } = await size(api);
    if (deployment !== undefined && wanted !== undefined) {
      if (pods.length < wanted) {
        await addWorker(
          api,
          service,
          new Set(pods.map(({ metadata }) => metadata.name)),
          deployment.spec.template,
        );
        await onChange();
      } else if (pods.length > wanted) {
        await removeWorker(api, service, pods);
        await onChange();
      }
      const replicas = Math.min(wanted, pods.length);
      const status = { replicas, readyReplicas: replicas, updatedReplicas: replicas };
      await api.mergePatch(DEPLOYMENTS, deployment.metadata, { status }, { subresource: 'status' });
    }
    await pause(500, undefined, { signal }).catch(() => undefined);
  }
}

async function addWorker(
  api: KubernetesApi,
  service: TestService,
  taken: ReadonlySet<string>,
  template: { readonly metadata?: { readonly labels?: Readonly<Record<string, string>> } },
): Promise<void> {
  let number = 1;
  while (taken.has(`worker-${number}`)) number += 1;
  const name = `worker-${number}`;
  const replicaSet = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `${DEPLOYMENT}-${HASH}` };
  const spec = { nodeName: 'node', containers: [{ name: 'worker', image: 'platen' }] };
  const wanted = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace: NAMESPACE,
      name,
      labels: { ...template.metadata?.labels, 'pod-template-hash': HASH },
      ownerReferences: [{ ...replicaSet, uid: '0f0e0d0c-0000-4000-8000-000000000000', controller: true }],
    },
    spec,
  };
  const pod: Pod = await api.create(PODS, wanted);
  if (!service.roles.has(name)) await service.restart(name);
  const conditions = ['PodScheduled', 'ContainersReady', 'Ready'].map((type) => ({ type, status: 'True' }));
  await api.mergePatch(
    PODS,
    pod.metadata,
    { status: { phase: 'Running', conditions } },
    { subresource: 'status' },
  );
}

async function removeWorker(api: KubernetesApi, service: TestService, pods: readonly Pod[]): Promise<void> {
  const cost = ({ metadata }: Pod) => Number(metadata.annotations?.[DELETION_COST] ?? 0);
  const [first] = [...pods].sort((a, b) => cost(a) - cost(b));
  const { name } = first!.metadata;
  const worker = service.roles.get(name);
  // Before it is gone: nobody is to ask it for its metrics while it ends.
  service.roles.delete(name);
  await worker?.end();
  await api.delete(PODS, first!.metadata, { gracePeriodSeconds: 0 });
}
