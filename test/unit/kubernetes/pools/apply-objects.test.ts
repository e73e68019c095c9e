import assert from 'node:assert/strict';
import type { Informer } from '../../../../src/infra/kube/client/informer.ts';
import type { Kind, KubeObject } from '../../../../src/infra/kube/client/kube-object.ts';
import type { KubernetesApi } from '../../../../src/infra/kube/client/kubernetes-api.ts';
import { KubernetesError } from '../../../../src/infra/kube/kubernetes-error.ts';
import { ObjectApplier, type OwnedInformers } from '../../../../src/kubernetes/pools/apply-objects.ts';
import { ownedObjects } from '../../../../src/kubernetes/pools/owned-objects.ts';
import type { RenderPool } from '../../../../src/kubernetes/resources/kinds.ts';
import { renderPoolSpecSchema } from '../../../../src/kubernetes/resources/render-pool.ts';

const INSTALLATION = { id: 'a/platen-controller', home: 'a' };

function poolOf(podLabels: Record<string, string> = {}): RenderPool {
  return {
    apiVersion: 'platen.dev/v1alpha1',
    kind: 'RenderPool',
    metadata: { name: 'p', namespace: 'a', uid: 'u' },
    spec: renderPoolSpecSchema.parse({ podLabels }),
  };
}

/** An applier before an API server that fails Deployments as it is told to, on a clock of its own. */
function rig() {
  const stored = new Map<string, KubeObject>();
  const calls = { deployments: 0, scales: 0, others: 0, gets: 0 };
  let version = 0;
  let nowMs = 0;
  const failing: { by?: KubernetesError } = {};
  const store = <T extends KubeObject>(kind: string, object: T): T => {
    version += 1;
    const metadata = { ...object.metadata, resourceVersion: String(version), generation: version };
    const made = { ...object, metadata };
    stored.set(kind, made);
    return made;
  };
  const api = {
    get: async (kind: Kind) => {
      calls.gets += 1;
      return stored.get(kind.kind);
    },
    apply: async (kind: Kind, object: KubeObject) => {
      const isDeployment = kind.kind === 'Deployment';
      calls[isDeployment ? 'deployments' : 'others'] += 1;
      if (isDeployment && failing.by) throw failing.by;
      return store(kind.kind, object);
    },
    mergePatch: async (
      kind: Kind,
      _ref: object,
      patch: { spec: object },
      { subresource }: { subresource: string },
    ) => {
      assert.equal(subresource, 'scale');
      calls.scales += 1;
      const live = stored.get(kind.kind) as KubeObject<{ spec: object }>;
      store(kind.kind, { ...live, spec: { ...live.spec, ...patch.spec } });
    },
  } as unknown as KubernetesApi;
  const informer = (kind: string) =>
    ({ get: () => stored.get(kind), remember: () => undefined }) as unknown as Informer<KubeObject>;
  const informers = {
    deployments: informer('Deployment'),
    budgets: informer('PodDisruptionBudget'),
    policies: informer('NetworkPolicy'),
    accounts: informer('ServiceAccount'),
  } as unknown as OwnedInformers;
  const clock = { now: () => new Date(nowMs) };
  const applier = new ObjectApplier({ api, informers, installation: INSTALLATION, clock });
  const settings = {
    template: { spec: { containers: [{ name: 'worker' }] } },
    blockedNetworks: [],
    opsPort: 'ops',
    networkPolicies: true,
  };
  return {
    applier,
    stored,
    calls,
    failing,
    pass: (ms: number) => {
      nowMs += ms;
    },
    apply: (replicas: number, pool = poolOf()) => {
      const wanted = ownedObjects(pool, settings, INSTALLATION);
      const spec = { ...wanted.deployment.spec, replicas };
      const all = { ...wanted, deployment: { ...wanted.deployment, spec } };
      return applier.apply(pool, all, new AbortController().signal);
    },
  };
}

function failure(status: number, message = 'no'): KubernetesError {
  return new KubernetesError(message, { status, reason: `Status${status}` });
}

describe('the objects of a pool that the API server does not take', () => {
  it('are tried again every 30 seconds, however often the pool is reconciled and whatever its size', async () => {
    const { apply, calls, failing, pass } = rig();
    await apply(1);
    failing.by = failure(422);
    const before = calls.deployments;
    for (let second = 0; second < 60; second += 1) {
      const { reason, sized } = await apply(1 + (second % 5), poolOf({ bad: 'label' }));
      assert.deepEqual([reason, sized], ['Refused', true]);
      pass(1000);
    }
    assert.equal(calls.deployments - before, 2, 'in 60 seconds');
  });

  it('are tried again at once when something else is wanted', async () => {
    const { apply, calls, failing } = rig();
    failing.by = failure(422);
    assert.equal((await apply(1, poolOf({ bad: 'label' }))).reason, 'Refused');
    delete failing.by;
    assert.equal((await apply(1, poolOf({ good: 'label' }))).reason, 'Applied');
    assert.equal(calls.deployments, 2);
  });

  it('are taken over at once from another installation when the pool is assigned to this one', async () => {
    const { apply, stored } = rig();
    await apply(1);
    for (const [kind, object] of stored) {
      const annotations = {
        ...object.metadata.annotations,
        'platen.dev/installation': 'b/platen-controller',
      };
      stored.set(kind, { ...object, metadata: { ...object.metadata, annotations } });
    }
    assert.equal((await apply(1)).reason, 'NotOurs');
    const pool = poolOf();
    const annotations = { 'platen.dev/installation': INSTALLATION.id };
    const assigned = { ...pool, metadata: { ...pool.metadata, annotations } };
    assert.equal((await apply(1, assigned)).reason, 'Applied');
    for (const { metadata } of stored.values()) {
      assert.equal(metadata.annotations?.['platen.dev/installation'], INSTALLATION.id);
    }
  });

  it('get their owner again where somebody has removed it, which changes no generation', async () => {
    const { apply, stored, calls } = rig();
    await apply(1);
    assert.equal((await apply(1)).healed.length, 0);
    assert.equal(calls.deployments, 1);
    const { metadata, ...rest } = stored.get('Deployment')!;
    const { ownerReferences, ...ownerless } = metadata;
    assert.equal(ownerReferences?.length, 1);
    stored.set('Deployment', { ...rest, metadata: ownerless });
    assert.deepEqual((await apply(1)).healed, ['Deployment platen-pool-p']);
    assert.deepEqual(stored.get('Deployment')?.metadata.ownerReferences, ownerReferences);
  });

  it('get no size where there is no Deployment, and cost no calls meanwhile', async () => {
    const { apply, calls, failing, pass } = rig();
    failing.by = failure(422);
    assert.equal((await apply(3)).sized, false);
    const { gets } = calls;
    for (let second = 1; second < 30; second += 1) {
      pass(1000);
      assert.equal((await apply(3)).sized, false);
    }
    assert.deepEqual([calls.deployments, calls.scales, calls.gets], [1, 0, gets]);
  });

  it('are refused also by the status 500, where it is about a field', async () => {
    const { apply, failing } = rig();
    failing.by = failure(
      500,
      'failed to create typed patch object (…): .spec.x: field not declared in schema',
    );
    assert.equal((await apply(1)).reason, 'Refused');
  });

  it('are told of when the API server fails, as by a webhook that is away', async () => {
    const { apply, failing } = rig();
    await apply(1);
    failing.by = failure(500, 'failed calling webhook');
    const { reason, message, sized, error } = await apply(2, poolOf({ another: 'label' }));
    assert.deepEqual([reason, sized, error], ['ApplyFailed', true, undefined]);
    assert.match(
      message,
      /Deployment platen-pool-p could not be applied: failed calling webhook\. Until then the workers stay/,
    );
  });

  it('are scaled without a template, unless the Deployment belongs to another installation', async () => {
    const { apply, applier, calls, stored } = rig();
    await apply(1);
    const { signal } = new AbortController();
    assert.equal(await applier.scale(poolOf(), 4, signal), true);
    assert.equal(await applier.scale(poolOf(), 4, signal), true);
    assert.equal(calls.scales, 1);
    const live = stored.get('Deployment')!;
    const annotations = { 'platen.dev/installation': 'b/other' };
    stored.set('Deployment', { ...live, metadata: { ...live.metadata, annotations } });
    assert.equal(await applier.scale(poolOf(), 5, signal), false);
    assert.equal(calls.scales, 1);
  });

  for (const status of [0, 409, 429, 503]) {
    it(`are told of at the second failure by the status ${status}, which is often over at the next try`, async () => {
      const { apply, failing } = rig();
      await apply(1);
      failing.by = failure(status);
      const wanted = poolOf({ another: 'label' });
      await assert.rejects(apply(1, wanted), failing.by);
      const { reason, error } = await apply(1, wanted);
      assert.deepEqual([reason, error], ['ApplyFailed', failing.by]);
      delete failing.by;
      assert.equal((await apply(1, wanted)).reason, 'Applied');
    });
  }
});
