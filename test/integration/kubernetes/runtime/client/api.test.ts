import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Kind, KubeObject } from '../../../../../src/infra/kube/client/kube-object.ts';
import type { KubernetesApi } from '../../../../../src/infra/kube/client/kubernetes-api.ts';
import { openKubernetesApi } from '../../../../../src/infra/kube/client/open-kubernetes-api.ts';
import { isConflict, KubernetesError } from '../../../../../src/infra/kube/kubernetes-error.ts';
import { sharedControlPlane } from '../../../../support/kubernetes/control-plane.ts';
import {
  CONFIG_MAPS,
  type ConfigMap,
  configMap,
  makeNamespace,
} from '../../../../support/kubernetes/objects.ts';

describe('the calls of the Kubernetes API', () => {
  let api: KubernetesApi;
  let namespace: string;
  before(async () => {
    const { kubeconfigPath } = await sharedControlPlane();
    api = await openKubernetesApi({ kubeconfigPath });
    namespace = await makeNamespace(api);
  });
  after(() => api?.close());

  const make = (data: Record<string, string> = {}) =>
    api.create(CONFIG_MAPS, configMap(namespace, `map-${randomUUID()}`, data));

  it('make, read, change and delete an object, and report a missing one', async () => {
    const made = await make({ a: '1' });
    assert.ok(made.metadata.uid);
    const patched = await api.mergePatch(CONFIG_MAPS, made.metadata, { data: { a: null, b: '2' } });
    assert.deepEqual(patched.data, { b: '2' });
    assert.deepEqual(await api.get(CONFIG_MAPS, made.metadata), patched);
    assert.equal(await api.delete(CONFIG_MAPS, made.metadata), true);
    assert.equal(await api.get(CONFIG_MAPS, made.metadata), undefined);
    assert.equal(await api.delete(CONFIG_MAPS, made.metadata), false);
  });

  it('keep fields that this code does not know', async () => {
    const made = await api.create(CONFIG_MAPS, {
      ...configMap(namespace, `map-${randomUUID()}`),
      immutable: true,
    } as ConfigMap);
    assert.equal('immutable' in made && made.immutable, true);
  });

  it('read a long list page by page, each object once', async () => {
    const names = Array.from({ length: 600 }, (_, n) => `many-${String(n).padStart(3, '0')}`);
    const own = await makeNamespace(api);
    await Promise.all(names.map((name) => api.create(CONFIG_MAPS, configMap(own, name))));
    const page = await api.listPage(CONFIG_MAPS, { namespace: own, limit: 250 });
    assert.equal(page.items.length, 250);
    assert.ok(page.continueAt);
    const all = await api.list(CONFIG_MAPS, { namespace: own });
    assert.deepEqual(all.map(({ metadata }) => metadata.name).sort(), names);
    assert.deepEqual(
      new Set(all.map(({ kind, apiVersion }) => `${apiVersion} ${kind}`)),
      new Set(['v1 ConfigMap']),
    );
  });

  it('let one of several concurrent writes succeed, and fail the others', async () => {
    const made = await make({ count: '0' });
    let conflicts = 0;
    const increment = async () => {
      for (;;) {
        const read = (await api.get(CONFIG_MAPS, made.metadata))!;
        const count = String(Number(read.data?.count) + 1);
        try {
          return await api.replace(CONFIG_MAPS, { ...read, data: { count } });
        } catch (error) {
          assert.ok(isConflict(error), String(error));
          conflicts += 1;
        }
      }
    };
    await Promise.all(Array.from({ length: 20 }, increment));
    assert.equal((await api.get(CONFIG_MAPS, made.metadata))?.data?.count, '20');
    assert.ok(conflicts > 0, 'no writes conflicted');
  });

  it('let one of several concurrent creations succeed', async () => {
    const object = configMap(namespace, `map-${randomUUID()}`);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => api.create(CONFIG_MAPS, object)),
    );
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    assert.equal(refused.length, 9);
    for (const { reason } of refused) assert.equal(reason.reason, 'AlreadyExists');
  });

  it('report an object that was deleted in between, and do not touch its successor', async () => {
    const made = await make();
    await api.delete(CONFIG_MAPS, made.metadata);
    const { name } = made.metadata;
    await assert.rejects(api.mergePatch(CONFIG_MAPS, made.metadata, { data: {} }), { status: 404 });
    const successor = await api.create(CONFIG_MAPS, configMap(namespace, name));
    await assert.rejects(api.replace(CONFIG_MAPS, made), { status: 409 });
    await assert.rejects(api.delete(CONFIG_MAPS, made.metadata, { uid: made.metadata.uid }), { status: 409 });
    await assert.rejects(
      api.mergePatch(
        CONFIG_MAPS,
        { namespace, name },
        { metadata: { resourceVersion: made.metadata.resourceVersion } },
      ),
      { status: 409 },
    );
    assert.equal((await api.get(CONFIG_MAPS, { namespace, name }))?.metadata.uid, successor.metadata.uid);
  });

  it('report in the server’s words what is wrong with an object', async () => {
    const error = await api.create(CONFIG_MAPS, configMap(namespace, 'No_Such_Name')).then(
      () => assert.fail(),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof KubernetesError);
    assert.equal(error.status, 422);
    assert.equal(error.reason, 'Invalid');
    assert.match(error.message, /RFC 1123/);
  });

  it('report an unknown kind clearly', async () => {
    const kind: Kind<KubeObject> = { group: 'none.example', version: 'v1', plural: 'things', kind: 'Thing' };
    await assert.rejects(api.list(kind), { status: 404 });
  });
});
