import assert from 'node:assert/strict';
import { Informer } from '../../../../../src/infra/kube/client/informer.ts';
import type { KubernetesApi } from '../../../../../src/infra/kube/client/kubernetes-api.ts';
import { openKubernetesApi } from '../../../../../src/infra/kube/client/open-kubernetes-api.ts';
import { eventually } from '../../../../support/eventually.ts';
import { type ControlPlane, sharedControlPlane } from '../../../../support/kubernetes/control-plane.ts';
import {
  CONFIG_MAPS,
  type ConfigMap,
  configMap,
  makeNamespace,
} from '../../../../support/kubernetes/objects.ts';
import { type SeverableWay, severableWay } from '../../../../support/kubernetes/severable.ts';

describe('an informer of a real API server', () => {
  let plane: ControlPlane;
  let api: KubernetesApi;
  let way: SeverableWay;
  let watching: KubernetesApi;
  let namespace: string;
  let informer: Informer<ConfigMap>;
  let reasons: string[];
  before(async () => {
    plane = await sharedControlPlane();
    api = await openKubernetesApi({ kubeconfigPath: plane.kubeconfigPath });
  });
  after(() => api?.close());
  beforeEach(async () => {
    namespace = await makeNamespace(api);
    way = await severableWay(plane);
    watching = await openKubernetesApi({ kubeconfigPath: way.kubeconfigPath });
    reasons = [];
    informer = new Informer({
      api: watching,
      kind: CONFIG_MAPS,
      namespaces: [namespace],
      labelSelector: '!hidden',
      logger: {
        warn: ({ err }: { err: { reason?: string } }) => reasons.push(err.reason ?? String(err)),
        error: (it: unknown) => assert.fail(String(it)),
      },
      timing: { firstRetryMs: 100, maxRetryMs: 500, silenceMs: 1500 },
    });
    await informer.whenSynced();
  });
  afterEach(async () => {
    await informer.stop();
    await watching.close();
    await way.stop();
  });

  const make = (name: string, n = 0) => api.create(CONFIG_MAPS, configMap(namespace, name, { n: String(n) }));
  const contents = () =>
    Object.fromEntries([...informer.all()].map(({ metadata, data }) => [metadata.name, data?.n]));

  it('has all objects, and receives changes', async () => {
    const reported: string[] = [];
    informer.onChange((key, now, before) =>
      reported.push(`${key.split('/')[1]} ${before?.data?.n}→${now?.data?.n}`),
    );
    const a = await make('a', 1);
    await api.mergePatch(CONFIG_MAPS, a.metadata, { data: { n: '2' } });
    await api.delete(CONFIG_MAPS, a.metadata);
    await eventually('all three', () => reported.length === 3);
    assert.deepEqual(reported, ['a undefined→1', 'a 1→2', 'a 2→undefined']);
  });

  it('drops an object that its selector matches no more', async () => {
    const a = await make('a');
    await eventually('the object', () => 'a' in contents());
    await api.mergePatch(CONFIG_MAPS, a.metadata, { metadata: { labels: { hidden: 'yes' } } });
    await eventually('its end', () => !('a' in contents()));
  });

  it('has an own write at once, and never an older version', async () => {
    const made = await make('a', 0);
    informer.remember(made);
    let seen = 0;
    informer.onChange((_key, now) => {
      const n = Number(now?.data?.n);
      assert.ok(n > seen, `${n} came after ${seen}`);
      seen = n;
    });
    for (let n = 1; n <= 30; n += 1) {
      const written = await api.mergePatch(CONFIG_MAPS, made.metadata, { data: { n: String(n) } });
      informer.remember(written);
      assert.equal(informer.get(made.metadata)?.data?.n, String(n));
    }
    await make('last');
    await eventually('the watch', () => 'last' in contents()).catch(() => {});
    assert.equal(informer.get(made.metadata)?.data?.n, '30');
  });

  it('finds changes from while it was cut off, deletions included', async () => {
    const gone = await make('gone');
    const kept = await make('kept', 1);
    await eventually('both', () => Object.keys(contents()).length === 2);
    way.cut();
    await api.delete(CONFIG_MAPS, gone.metadata);
    await api.mergePatch(CONFIG_MAPS, kept.metadata, { data: { n: '2' } });
    await eventually('silence', () => reasons.includes('SilentWatch'));
    assert.deepEqual(contents(), { gone: '0', kept: '1' });
    way.repair();
    await eventually('what happened', () => JSON.stringify(contents()) === '{"kept":"2"}');
  });

  it('survives a restart of the API server, which loses its old versions', async () => {
    const a = await make('a', 1);
    await eventually('the object', () => 'a' in contents());
    way.cut();
    await api.mergePatch(CONFIG_MAPS, a.metadata, { data: { n: '2' } });
    await make('b', 3);
    await plane.haltApiServer();
    await plane.restartApiServer();
    way.repair();
    await eventually('what is there', () => JSON.stringify(contents()) === '{"a":"2","b":"3"}');
    assert.ok(reasons.includes('Expired'), reasons.join());
  });
});
