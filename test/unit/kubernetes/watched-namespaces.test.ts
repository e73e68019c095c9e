import assert from 'node:assert/strict';
import type { NamespaceState } from '../../../src/infra/kube/client/informer.ts';
import { KubernetesError } from '../../../src/infra/kube/kubernetes-error.ts';
import { WatchedNamespaces } from '../../../src/kubernetes/watched-namespaces.ts';

const FORBIDDEN = new KubernetesError('pods is forbidden', { status: 403, reason: 'Forbidden' });
const AWAY = new KubernetesError('no connection', { status: 0, reason: 'Unreachable' });

/** Two namespaces and two kinds, each as the test has it. */
function watched() {
  const states = new Map<string, NamespaceState>();
  const reported: string[] = [];
  const watcher = (kind: string) => ({
    stateOf: (namespace: string) =>
      states.get(`${kind} ${namespace}`) ?? { listed: false, trouble: undefined },
  });
  const watchers = new Map(['Pod', 'RenderPool'].map((kind) => [kind, watcher(kind)]));
  const namespaces = new WatchedNamespaces(['a', 'b'], watchers, (namespace) => reported.push(namespace));
  const set = (kind: string, namespace: string, listed: boolean, trouble?: unknown) => {
    states.set(`${kind} ${namespace}`, { listed, trouble });
    namespaces.check(namespace);
  };
  return { namespaces, reported, set };
}

describe('watched namespaces', () => {
  it('are settled when each has been read or rejected, and report nothing before', async () => {
    const { namespaces, reported, set } = watched();
    set('Pod', 'a', true);
    assert.deepEqual(reported, []);
    set('RenderPool', 'a', true);
    set('Pod', 'b', false, FORBIDDEN);
    let settled = false;
    const waiting = namespaces.whenSettled().then(() => {
      settled = true;
    });
    await Promise.resolve();
    assert.equal(settled, false);
    set('RenderPool', 'b', true);
    await waiting;
    assert.deepEqual(reported, ['a', 'b']);
    assert.deepEqual([...namespaces.problems()], [['b', 'Pod: pods is forbidden']]);
  });

  it('are unreadable when a kind is rejected that was read before, and not when the server is away', () => {
    const { namespaces, reported, set } = watched();
    set('Pod', 'a', true);
    set('RenderPool', 'a', true);
    set('Pod', 'a', true, AWAY);
    assert.equal(namespaces.problem('a'), undefined);
    set('Pod', 'a', true, FORBIDDEN);
    set('Pod', 'a', true, FORBIDDEN);
    assert.equal(namespaces.problem('a'), 'Pod: pods is forbidden');
    set('Pod', 'a', true);
    assert.equal(namespaces.problem('a'), undefined);
    assert.deepEqual(reported, ['a', 'a', 'a'], 'each change once');
  });
});
