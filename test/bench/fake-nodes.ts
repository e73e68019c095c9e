import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Kind } from '../../src/infra/kube/client/kube-object.ts';
import type { KubernetesApi } from '../../src/infra/kube/client/kubernetes-api.ts';
import type { ControlPlane } from '../support/kubernetes/control-plane.ts';
import { type Program, startProgram } from '../support/kubernetes/program.ts';
import { freePort } from '../support/ports.ts';

export const NODES: Kind = { group: '', version: 'v1', plural: 'nodes', kind: 'Node' };

/**
 * Makes pods of Deployments come to life on nodes that KWOK pretends: the real controllers and scheduler, and pods that are
 * Ready as soon as they have a node, and gone as soon as they are deleted.
 */
export async function startFakeNodes(
  plane: ControlPlane,
  api: KubernetesApi,
  count: number,
): Promise<{ stop(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'platen-kwok-'));
  const programs: Program[] = [];
  const start = async (name: string, ...flags: string[]) => {
    programs.push(await startProgram(name, [`--kubeconfig=${plane.kubeconfigPath}`, ...flags], { folder }));
  };
  const rate = ['--kube-api-qps=1000', '--kube-api-burst=2000', '--leader-elect=false'];
  await start(
    'kube-controller-manager',
    ...rate,
    '--controllers=deployment,replicaset',
    '--concurrent-deployment-syncs=10',
    '--concurrent-replicaset-syncs=10',
    `--secure-port=${await freePort()}`,
    `--cert-dir=${folder}`,
  );
  await start('kube-scheduler', ...rate, `--secure-port=${await freePort()}`, `--cert-dir=${folder}`);
  await start('kwok', '--manage-all-nodes', `--server-address=127.0.0.1:${await freePort()}`);
  for (let n = 0; n < count; n += 1) {
    const metadata = { name: `fake-${n}`, labels: { 'kubernetes.io/hostname': `fake-${n}` } };
    await api.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata });
    // The API server taints every node that is made, until a controller that is not here has found it ready.
    await api.mergePatch(NODES, metadata, { spec: { taints: null } });
  }
  return {
    stop: async () => {
      await Promise.all(programs.map((program) => program.end('SIGKILL')));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
