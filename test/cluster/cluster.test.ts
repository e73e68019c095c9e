import assert from 'node:assert/strict';
import { eventually } from '../support/eventually.ts';
import { type Cluster, sharedCluster } from './support/cluster.ts';

const IMAGE = 'docker.io/library/platen:e2e';
const SERVER = `require('node:http').createServer((request, response) => response.end(process.env.HOSTNAME)).listen(8080)`;
const ASK = `fetch('http://echo.default.svc.cluster.local').then((r) => r.text()).then(console.log)`;

/** What everything else here stands on. */
describe('the cluster of the tests', function () {
  this.timeout(300_000);
  let cluster: Cluster;
  before(async () => {
    cluster = await sharedCluster();
  });
  after(async () => {
    await cluster.plane.kubectl('delete', 'deployment/echo', 'service/echo', '--wait=true');
  });

  it('runs pods under the restricted profile on each of its nodes, which reach a Service by its name', async () => {
    const { kubectl } = cluster.plane;
    await kubectl('label', 'namespace', 'default', 'pod-security.kubernetes.io/enforce=restricted');
    await kubectl('create', '--filename', await cluster.write('echo.json', deployment()));
    await kubectl('expose', 'deployment/echo', '--port=80', '--target-port=8080');
    await kubectl('rollout', 'status', 'deployment/echo', '--timeout=60s');

    const where = await kubectl('get', 'pods', '-l', 'app=echo', '-o', 'jsonpath={.items[*].spec.nodeName}');
    assert.deepEqual(where.split(' ').sort(), ['node-a', 'node-b']);
    const names = await kubectl('get', 'pods', '-l', 'app=echo', '-o', 'jsonpath={.items[*].metadata.name}');
    // Both pods respond, the caller itself included.
    const responded = new Set<string>();
    let refused: unknown = '';
    await eventually(
      'an answer from every pod',
      async () => {
        // The Service has its name, and each node the way to it, a moment after the pods are ready.
        const response = await kubectl('exec', 'deployment/echo', '--', 'node', '-e', ASK).catch((error) => {
          refused = error;
        });
        if (response !== undefined) responded.add(response.trim());
        return responded.size === 2;
      },
      60_000,
    ).catch((error: Error) => {
      throw new Error(`${error.message}: ${[...responded]} ${refused}`);
    });
    assert.deepEqual([...responded].sort(), names.split(' ').sort());
  });
});

function deployment(): object {
  const labels = { app: 'echo' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'echo' },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'DoNotSchedule',
              labelSelector: { matchLabels: labels },
            },
          ],
          terminationGracePeriodSeconds: 1,
          containers: [
            {
              name: 'echo',
              image: IMAGE,
              imagePullPolicy: 'Never',
              command: ['node', '-e', SERVER],
              securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
              readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
            },
          ],
        },
      },
    },
  };
}
