import assert from 'node:assert/strict';
import type { KubeObject } from '../../../../../src/infra/kube/client/kube-object.ts';
import { ObjectStore } from '../../../../../src/infra/kube/client/object-store.ts';

function object(name: string, resourceVersion: string, namespace = 'ns'): KubeObject {
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name, namespace, resourceVersion } };
}

function openStore() {
  const reported: string[] = [];
  const version = (it: KubeObject | undefined) => it?.metadata.resourceVersion ?? '–';
  const store = new ObjectStore<KubeObject>((key, now, before) => {
    reported.push(`${key} ${version(before)}→${version(now)}`);
  });
  const versions = () =>
    [...store.all()].map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`);
  return { store, reported, versions };
}

describe('the store of an informer', () => {
  it('reports new, changed and deleted objects', () => {
    const { store, reported, versions } = openStore();
    store.put(object('a', '9'));
    store.put(object('a', '10'));
    store.put(object('b', '11'));
    store.remove(object('a', '12'));
    assert.deepEqual(reported, ['ns/a –→9', 'ns/a 9→10', 'ns/b –→11', 'ns/a 10→–']);
    assert.deepEqual(versions(), ['b@11']);
  });

  it('never goes back: versions are compared as numbers of any length', () => {
    const { store, reported, versions } = openStore();
    store.put(object('a', '100'));
    store.put(object('a', '99'));
    store.put(object('a', '100'));
    store.remove(object('a', '98'));
    assert.deepEqual(versions(), ['a@100']);
    assert.deepEqual(reported, ['ns/a –→100']);
  });

  it('does not restore a deleted object when the response to an own write comes late', () => {
    const { store, versions } = openStore();
    store.put(object('a', '5'));
    store.remove(object('a', '7'));
    store.put(object('a', '6'));
    assert.deepEqual(versions(), []);
    store.put(object('a', '8'));
    assert.deepEqual(versions(), ['a@8']);
  });

  it('drops objects missing in a list, but not newer ones, nor those of other namespaces', () => {
    const { store, versions } = openStore();
    store.put(object('old', '5'));
    store.put(object('kept', '6'));
    store.put(object('made meanwhile', '12'));
    store.put(object('elsewhere', '5', 'other'));
    store.removeAllBut(new Set(['ns/kept']), 'ns', '10');
    assert.deepEqual(versions(), ['kept@6', 'made meanwhile@12', 'elsewhere@5']);
    // A response from before the list: the object has gone since.
    store.put(object('old', '9'));
    assert.equal(store.get({ namespace: 'ns', name: 'old' }), undefined);
  });

  it('takes older versions from a server that was restored, and reports only differences', () => {
    const { store, reported, versions } = openStore();
    store.put(object('a', '500'));
    store.put(object('b', '20'));
    reported.length = 0;
    store.distrustVersions();
    store.put(object('a', '100'));
    store.put(object('b', '20'));
    store.removeAllBut(new Set(['ns/a', 'ns/b']), undefined, '120');
    assert.deepEqual(versions(), ['a@100', 'b@20']);
    assert.deepEqual(reported, ['ns/a 500→100']);
  });
});
