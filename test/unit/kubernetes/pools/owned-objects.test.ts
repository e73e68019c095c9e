import assert from 'node:assert/strict';
import type { KubeObject } from '../../../../src/infra/kube/client/kube-object.ts';
import {
  foreignOwnerOf,
  ownedObjects,
  type PoolsSettings,
} from '../../../../src/kubernetes/pools/owned-objects.ts';
import type { RenderPool } from '../../../../src/kubernetes/resources/kinds.ts';
import { renderPoolSpecSchema } from '../../../../src/kubernetes/resources/render-pool.ts';

const SETTINGS: PoolsSettings = {
  template: { spec: { containers: [{ name: 'worker' }] } },
  blockedNetworks: [],
  opsPort: 'ops',
  networkPolicies: false,
};

const INSTALLATION = { id: 'a/platen-controller', home: 'a' };

function pool(spec: Readonly<Record<string, unknown>>): RenderPool {
  return {
    apiVersion: 'platen.dev/v1alpha1',
    kind: 'RenderPool',
    metadata: { name: 'p', uid: 'u' },
    spec: renderPoolSpecSchema.parse(spec),
  };
}

describe('the objects of a pool', () => {
  it('replace a quarter of the workers at a time, and end none before its successor is ready', () => {
    const { deployment } = ownedObjects(pool({}), SETTINGS, INSTALLATION);
    assert.deepEqual(deployment.spec?.strategy, {
      type: 'RollingUpdate',
      rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 },
    });
  });

  it('have an account of the pool, unless it or the installation names another', () => {
    const named = { ...SETTINGS, template: { ...SETTINGS.template, serviceAccount: { name: 'of-all' } } };
    const accountOf = (spec: object, settings = SETTINGS) => {
      const { serviceAccount, deployment } = ownedObjects(pool({ ...spec }), settings, INSTALLATION);
      const { serviceAccountName } = deployment.spec.template.spec;
      return [serviceAccount?.metadata.name, serviceAccountName];
    };
    assert.deepEqual(accountOf({}), ['platen-pool-p', 'platen-pool-p']);
    assert.deepEqual(accountOf({}, named), [undefined, 'of-all']);
    assert.deepEqual(accountOf({ serviceAccountName: 'own' }, named), [undefined, 'own']);
    const annotated = { serviceAccountAnnotations: { role: 'x' } };
    assert.deepEqual(accountOf(annotated, named), ['platen-pool-p', 'platen-pool-p']);
  });

  it('let other pods but workers read metrics, unless the installation says who', () => {
    const from = (template: object) => {
      const settings = {
        ...SETTINGS,
        networkPolicies: true,
        template: { ...SETTINGS.template, ...template },
      };
      const { spec } = ownedObjects(pool({}), settings, INSTALLATION).networkPolicy ?? {};
      return ((spec?.ingress ?? []) as readonly { readonly from: readonly object[] }[])[0]?.from;
    };
    const [others] = from({ metricsFrom: [] }) ?? [];
    assert.match(JSON.stringify(others), /"NotIn","values":\["worker"\]/);
    const monitoring = { podSelector: { matchLabels: { app: 'prometheus' } } };
    assert.deepEqual(from({ metricsFrom: [monitoring] }), [monitoring]);
  });

  it('name their installation, and have no label by which Argo CD would prune them', () => {
    const { id } = INSTALLATION;
    const template = {
      ...SETTINGS.template,
      metadata: { labels: { 'app.kubernetes.io/instance': 'platen' } },
    };
    const settings = { ...SETTINGS, template, networkPolicies: true };
    const { deployment, problem, ...others } = ownedObjects(pool({}), settings, INSTALLATION);
    assert.equal(problem, undefined);
    for (const { metadata } of [deployment, ...Object.values(others)] as KubeObject[]) {
      assert.equal(metadata.annotations?.['platen.dev/installation'], id);
      assert.equal(metadata.labels?.['app.kubernetes.io/instance'], undefined);
    }
    const { labels } = deployment.spec.template.metadata ?? {};
    assert.equal(labels?.['app.kubernetes.io/instance'], 'platen', 'pods are selected by it');
  });
});

describe('the owner of an object with the name of ours', () => {
  const { deployment } = ownedObjects(pool({}), SETTINGS, INSTALLATION);
  const ownerOf = (metadata: Partial<KubeObject['metadata']>, of = pool({})) =>
    foreignOwnerOf({ ...deployment, metadata: { ...deployment.metadata, ...metadata } }, of, INSTALLATION);

  it('is the pool: by the reference, or after a restored backup by its labels', () => {
    assert.equal(ownerOf({}), undefined);
    assert.equal(ownerOf({ ownerReferences: [] }), undefined);
    assert.equal(ownerOf({ annotations: {} }), undefined);
  });

  it('is somebody else', () => {
    assert.equal(ownerOf({ ownerReferences: [], labels: {} }), 'somebody else');
    const reference = { apiVersion: 'v1', kind: 'RenderPool', name: 'p', uid: 'another', controller: true };
    assert.equal(ownerOf({ ownerReferences: [reference] }), 'somebody else');
  });

  it('is another installation, until the pool is annotated to be of this one', () => {
    const theirs = { annotations: { 'platen.dev/installation': 'b/other' } };
    assert.match(ownerOf(theirs) ?? '', /^the installation b\/other; annotate the pool/);
    assert.match(ownerOf({ ...theirs, ownerReferences: [] }) ?? '', /^the installation b\/other/);
    const annotations = { 'platen.dev/installation': INSTALLATION.id };
    const taken = { ...pool({}), metadata: { ...pool({}).metadata, annotations } };
    assert.equal(ownerOf(theirs, taken), undefined);
  });
});
