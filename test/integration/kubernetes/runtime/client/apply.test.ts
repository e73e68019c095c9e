import assert from 'node:assert/strict';
import { applyWhenChanged, writeStatus } from '../../../../../src/infra/kube/client/apply.ts';
import type { Kind, KubeObject } from '../../../../../src/infra/kube/client/kube-object.ts';
import type { KubernetesApi, New } from '../../../../../src/infra/kube/client/kubernetes-api.ts';
import { openKubernetesApi } from '../../../../../src/infra/kube/client/open-kubernetes-api.ts';
import { isConflict } from '../../../../../src/infra/kube/kubernetes-error.ts';
import { sharedControlPlane } from '../../../../support/kubernetes/control-plane.ts';
import { makeNamespace } from '../../../../support/kubernetes/objects.ts';

type Deployment = KubeObject<{
  readonly spec: { readonly replicas?: number; readonly template: object };
  readonly status?: object;
}>;

const DEPLOYMENTS: Kind<Deployment> = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
};
const POLICIES: Kind = {
  group: 'networking.k8s.io',
  version: 'v1',
  plural: 'networkpolicies',
  kind: 'NetworkPolicy',
};
const OPTIONS = { fieldManager: 'platen-test', force: true };

/** With all that makes live objects differ from what was applied: defaults, quantities in another form, lists of each sort. */
function deployment(namespace: string, { replicas = 2, labels = {} as Record<string, string> } = {}) {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace, name: 'workers', labels: { 'app.kubernetes.io/name': 'platen', ...labels } },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'worker' } },
      template: {
        metadata: { labels: { app: 'worker' } },
        spec: {
          terminationGracePeriodSeconds: 90,
          containers: [
            {
              name: 'worker',
              image: 'platen:1',
              command: ['platen', 'worker'],
              ports: [{ name: 'ops', containerPort: 9090 }],
              env: [
                { name: 'A', value: '1' },
                { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
              ],
              resources: { requests: { cpu: '1000m', memory: '1024Mi' }, limits: {} },
              securityContext: { capabilities: { drop: ['ALL'] } },
              volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
            },
          ],
          tolerations: [{ key: 'dedicated', operator: 'Exists', effect: 'NoSchedule' }],
          topologySpreadConstraints: [
            { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
          ],
          volumes: [{ name: 'tmp', emptyDir: {} }],
        },
      },
    },
  };
}

describe('applying only what has changed', () => {
  let api: KubernetesApi;
  let namespace: string;
  /** What was called: method and path. */
  const calls: string[] = [];
  before(async () => {
    const { kubeconfigPath } = await sharedControlPlane();
    api = await openKubernetesApi({ kubeconfigPath, onCall: ({ method }) => calls.push(method) });
  });
  after(() => api?.close());
  beforeEach(async () => {
    namespace = await makeNamespace(api);
  });

  const read = async () => (await api.get(DEPLOYMENTS, { namespace, name: 'workers' }))!;
  const apply = (live: Deployment | undefined, wanted: New<Deployment>) =>
    applyWhenChanged(api, DEPLOYMENTS, live, wanted, OPTIONS);

  it('makes a missing object, and does not call the server again for the same', async () => {
    const wanted = deployment(namespace);
    const made = await apply(undefined, wanted);
    assert.ok(made.metadata.uid);
    const live = await read();
    calls.length = 0;
    // With another order of fields it is the same.
    const again = { ...wanted, metadata: { ...wanted.metadata, labels: { ...wanted.metadata.labels } } };
    assert.equal(await apply(live, again), live);
    assert.deepEqual(calls, []);
  });

  it('is confirmed by the server: the same is no change', async () => {
    const made = await apply(undefined, deployment(namespace));
    const again = await apply(undefined, deployment(namespace));
    assert.equal(again.metadata.resourceVersion, made.metadata.resourceVersion);
  });

  it('recognises the same in lists that the server completes', async () => {
    const policy = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { namespace, name: 'workers' },
      spec: {
        podSelector: { matchLabels: { app: 'worker' } },
        policyTypes: ['Ingress', 'Egress'],
        ingress: [],
        egress: [
          {
            to: [{ ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.169.254/32'] } }],
            ports: [{ port: 443 }],
          },
        ],
      },
    };
    await applyWhenChanged<KubeObject>(api, POLICIES, undefined, policy, OPTIONS);
    const live = (await api.get(POLICIES, policy.metadata))!;
    calls.length = 0;
    assert.equal(await applyWhenChanged<KubeObject>(api, POLICIES, live, policy, OPTIONS), live);
    assert.deepEqual(calls, []);
  });

  it('restores what others have changed or removed of it', async () => {
    const wanted = deployment(namespace);
    await apply(undefined, wanted);
    await api.mergePatch(DEPLOYMENTS, { namespace, name: 'workers' }, { spec: { replicas: 7 } });
    assert.equal((await apply(await read(), wanted)).spec.replicas, 2);
    await api.mergePatch(
      DEPLOYMENTS,
      { namespace, name: 'workers' },
      {
        spec: { template: { spec: { containers: [{ name: 'worker', image: 'other:1' }] } } },
      },
    );
    const healed = await apply(await read(), wanted);
    assert.match(JSON.stringify(healed.spec.template), /platen:1.*"cpu":"1".*|"cpu":"1".*platen:1/);
    await api.mergePatch(
      DEPLOYMENTS,
      { namespace, name: 'workers' },
      {
        metadata: { labels: { 'app.kubernetes.io/name': null } },
      },
    );
    const labelled = await apply(await read(), wanted);
    assert.equal(labelled.metadata.labels?.['app.kubernetes.io/name'], 'platen');
  });

  it('leaves additional fields of others, without a call', async () => {
    const wanted = deployment(namespace);
    await apply(undefined, wanted);
    await api.mergePatch(
      DEPLOYMENTS,
      { namespace, name: 'workers' },
      {
        metadata: { labels: { team: 'blue' }, annotations: { note: 'theirs' } },
        spec: { revisionHistoryLimit: 3 },
      },
    );
    const live = await read();
    calls.length = 0;
    assert.equal(await apply(live, wanted), live);
    assert.deepEqual(calls, []);
    const changed = await apply(live, deployment(namespace, { replicas: 3 }));
    assert.equal(changed.spec.replicas, 3);
    assert.equal(changed.metadata.labels?.team, 'blue');
    assert.equal(changed.metadata.annotations?.note, 'theirs');
    assert.match(JSON.stringify(changed.spec), /"revisionHistoryLimit":3/);
  });

  it('removes fields that it had before and has no more', async () => {
    await apply(undefined, deployment(namespace, { labels: { tier: 'gold' } }));
    const live = await read();
    assert.equal(live.metadata.labels?.tier, 'gold');
    const changed = await apply(live, deployment(namespace));
    assert.equal(changed.metadata.labels?.tier, undefined);
  });

  it('names the manager of a field, unless the field is to be taken over', async () => {
    await apply(undefined, deployment(namespace));
    await api.apply(DEPLOYMENTS, scaleOf(namespace, 9), {
      fieldManager: 'autoscaler-of-others',
      force: true,
    });
    const wanted = deployment(namespace);
    const error = await applyWhenChanged(api, DEPLOYMENTS, await read(), wanted, {
      fieldManager: 'platen-test',
    }).then(
      () => assert.fail('it was applied'),
      (thrown: unknown) => thrown,
    );
    assert.ok(isConflict(error));
    assert.match(String(error), /autoscaler-of-others.*\.spec\.replicas/s);
    assert.equal((await read()).spec.replicas, 9);
    assert.equal((await apply(await read(), wanted)).spec.replicas, 2);
  });

  it('writes a status whole, and only when it differs', async () => {
    const made = await apply(undefined, deployment(namespace));
    const status = (replicas: number) => ({ observedGeneration: 1, replicas, readyReplicas: undefined });
    const written = await writeStatus(api, DEPLOYMENTS, made, status(2), OPTIONS);
    assert.deepEqual(written.status, { observedGeneration: 1, replicas: 2 });
    calls.length = 0;
    assert.equal(await writeStatus(api, DEPLOYMENTS, written, status(2), OPTIONS), written);
    assert.deepEqual(calls, []);
    const shorter = await writeStatus(api, DEPLOYMENTS, written, { replicas: 1 }, OPTIONS);
    assert.deepEqual(shorter.status, { replicas: 1 });
    const live = await read();
    assert.equal(await apply(live, deployment(namespace)), live, 'the status is no part of what is applied');
  });
});

function scaleOf(namespace: string, replicas: number): New<Deployment> {
  const { apiVersion, kind, spec } = deployment(namespace);
  return {
    apiVersion,
    kind,
    metadata: { namespace, name: 'workers' },
    spec: { replicas, template: {}, selector: spec.selector } as Deployment['spec'],
  };
}
