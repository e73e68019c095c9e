import assert from 'node:assert/strict';
import { FIELD_EXAMPLES } from '../../../scripts/kubernetes/field-examples.ts';
import type { KubernetesApi } from '../../../src/infra/kube/client/kubernetes-api.ts';
import { openKubernetesApi } from '../../../src/infra/kube/client/open-kubernetes-api.ts';
import { API_VERSION } from '../../../src/kubernetes/resources/group.ts';
import {
  RENDER_PLANS,
  RENDER_POOLS,
  type RenderPlan,
  type RenderPool,
} from '../../../src/kubernetes/resources/kinds.ts';
import { type ControlPlane, startControlPlane } from '../../support/kubernetes/control-plane.ts';

const NAMESPACE = 'default';

describe('The definitions of RenderPlan and RenderPool, at a real API server', () => {
  let plane: ControlPlane;
  let api: KubernetesApi;
  before(async () => {
    plane = await startControlPlane();
    await plane.installCrds();
    api = await openKubernetesApi({ kubeconfigPath: plane.kubeconfigPath });
  });
  after(async () => {
    await api?.close();
    await plane?.stop();
  });

  const metadata = (name: string) => ({ namespace: NAMESPACE, name });
  const createPool = (name: string, spec: object) =>
    api.create(RENDER_POOLS, {
      apiVersion: API_VERSION,
      kind: 'RenderPool',
      metadata: metadata(name),
      spec: spec as RenderPool['spec'],
    });
  const createPlan = (name: string, spec: object) =>
    api.create(RENDER_PLANS, {
      apiVersion: API_VERSION,
      kind: 'RenderPlan',
      metadata: metadata(name),
      spec: spec as RenderPlan['spec'],
    });
  const patchPool = (name: string, spec: object) => api.mergePatch(RENDER_POOLS, metadata(name), { spec });
  const refused = (attempt: Promise<unknown>, why: RegExp) =>
    assert.rejects(attempt, (error: Error) => {
      assert.match(error.message, why);
      return true;
    });

  it('fill in the defaults of a pool', async () => {
    const { spec } = await createPool('defaults', {});
    assert.equal(spec.minReplicas, 1);
    assert.equal(spec.mode, 'Automatic');
    assert.deepEqual(spec.scaleDown, { stabilisationSeconds: 120, maxPercent: 50, periodSeconds: 30 });
    assert.equal(spec.replicas, undefined);
  });

  it('reject contradictions, with an explanation', async () => {
    await refused(createPool('a', { minReplicas: 3, maxReplicas: 2 }), /minReplicas must not be greater/);
    await refused(createPool('a', { fallbackReplicas: 20 }), /fallbackReplicas must not be greater/);
    await refused(createPool('a', { mode: 'Manual' }), /replicas must be set when mode is Manual/);
    await refused(createPool('a', { replicas: 3 }), /replicas cannot be set when mode is Automatic/);
    await refused(createPool('a', { slotsPerWorker: 0 }), /slotsPerWorker.*greater than or equal to 1/);
    await refused(createPool('a', { sandbox: false }), /sandbox.*must be of type string/s);
    await refused(createPool('a'.repeat(64), {}), /name of a pool must be 1 to 63/);
    await refused(createPlan('p', { poolRef: 'Not_A_Name' }), /poolRef must be 1 to 63 lower-case/);
    await refused(createPlan('p', { concurrentRenders: 0 }), /concurrentRenders.*greater than or equal to 1/);
    await refused(createPlan('x'.repeat(64), {}), /name of a plan must be 1 to 63/);
  });

  it('take each example of the reference', async () => {
    const strictly = { fieldValidation: 'Strict' } as const;
    for (const [resource, kind] of [
      [RENDER_PLANS, 'RenderPlan'],
      [RENDER_POOLS, 'RenderPool'],
    ] as const) {
      const examples = Object.entries(FIELD_EXAMPLES[kind]!);
      assert.ok(examples.length >= 15);
      for (const [field, { spec }] of examples) {
        assert.ok(field in spec, field);
        const name = `example-${field.toLowerCase()}`;
        const object = { apiVersion: API_VERSION, kind, metadata: metadata(name), spec };
        await api.create<RenderPlan | RenderPool>(resource, object as RenderPool, strictly);
      }
    }
  });

  it('reject a field that Kubernetes does not know, however deep it is', async () => {
    const strictly = (spec: object) =>
      api.create(
        RENDER_POOLS,
        {
          apiVersion: API_VERSION,
          kind: 'RenderPool',
          metadata: metadata('typo'),
          spec: spec as RenderPool['spec'],
        },
        { fieldValidation: 'Strict' },
      );
    const spread = { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway', minDomain: 2 };
    const secretRef = { name: 'FOO', valueFrom: { secretRef: { name: 'a' } } };
    const terms = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerm: [] } };
    for (const [spec, field] of [
      [{ affinity: { nodeAffinty: {} } }, 'spec.affinity.nodeAffinty'],
      [{ affinity: { nodeAffinity: terms } }, 'nodeSelectorTerm'],
      [{ topologySpreadConstraints: [spread] }, 'minDomain'],
      [{ env: [secretRef] }, 'secretRef'],
      [{ tolerations: [{ efect: 'NoSchedule' }] }, 'efect'],
      [{ resources: { request: { cpu: 1 } } }, 'request'],
    ] as const) {
      await refused(strictly(spec), new RegExp(`unknown field .*${field}"`));
    }
    const { metadata: made } = await strictly({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }],
          },
        },
      },
      topologySpreadConstraints: [{ ...spread, minDomain: undefined, labelSelector: { matchLabels: {} } }],
      env: [
        { name: 'A', valueFrom: { secretKeyRef: { name: 'a', key: 'b', optional: true } } },
        { name: 'B', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: '1m' } } },
        { name: 'C', valueFrom: { resourceFieldRef: { resource: 'limits.cpu', divisor: 1 } } },
      ],
    });
    await api.delete(RENDER_POOLS, made);
  });

  it('reject requests that are greater than their limits', async () => {
    const resources = (requests: object, limits: object) => ({ resources: { requests, limits } });
    const why = /requests must not be greater than resources.limits/;
    await refused(createPool('a', resources({ memory: '4Gi' }, { memory: '1Gi' })), why);
    await refused(createPool('a', resources({ cpu: 2 }, { cpu: '1500m' })), why);
    await createPool('bounded', resources({ cpu: '500m', memory: '1Gi' }, { cpu: 1, memory: '1024Mi' }));
    await createPool('unbounded', resources({ cpu: 8 }, { memory: '1Gi' }));
  });

  it('do not let the isolation of a pool be changed', async () => {
    await createPool('isolated', { isolation: 'job' });
    await refused(patchPool('isolated', { isolation: 'account' }), /isolation cannot be changed/);
    await refused(patchPool('isolated', { isolation: null }), /isolation cannot be changed/);
    assert.equal((await patchPool('isolated', { maxReplicas: 7 })).spec.maxReplicas, 7);
  });

  it('let a pool in manual mode be scaled, and no pool that sizes itself', async () => {
    await createPool('manual', { mode: 'Manual', replicas: 2 });
    await plane.kubectl('scale', 'rpool/manual', '--replicas=5', '-n', NAMESPACE);
    const scaled = await api.get(RENDER_POOLS, metadata('manual'));
    assert.equal(scaled?.spec.replicas, 5);
    await createPool('automatic', {});
    await assert.rejects(plane.kubectl('scale', 'rpool/automatic', '--replicas=5', '-n', NAMESPACE));
    assert.equal((await api.get(RENDER_POOLS, metadata('automatic')))?.spec.replicas, undefined);
    await patchPool('manual', { mode: 'Automatic', replicas: null });
  });

  it('are explained by kubectl, field by field', async () => {
    const pool = await plane.kubectl('explain', 'renderpool.spec');
    assert.match(pool, /maxReplicas\s+<integer>/);
    assert.match(pool, /Workers that there are at most\./);
    assert.match(
      await plane.kubectl('explain', 'rplan.spec.poolRef'),
      /RenderPool whose workers run the jobs/,
    );
    const conditions = await plane.kubectl('explain', 'rpool.status.conditions.reason');
    assert.match(conditions, /every reason is in/);
  });

  it('are listed by their category, with columns', async () => {
    await createPlan('gold', { concurrentRenders: 20, poolRef: 'large' });
    const listed = await plane.kubectl('get', 'platen', '-n', NAMESPACE);
    assert.match(
      listed,
      /NAME\s+POOL\s+CONCURRENT\s+MONTHLY\s+ACCOUNTS\s+IN FLIGHT\s+WAITING\s+STATUS\s+AGE/,
    );
    assert.match(listed, /NAME\s+MODE\s+DEMAND\s+DESIRED\s+REPLICAS\s+READY\s+MAX\s+SCALING\s+STATUS\s+AGE/);
    assert.match(listed, /renderplan.platen.dev\/gold/);
  });
});
