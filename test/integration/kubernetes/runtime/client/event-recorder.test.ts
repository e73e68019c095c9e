import assert from 'node:assert/strict';
import {
  EVENTS,
  type EventContent,
  EventRecorder,
} from '../../../../../src/infra/kube/client/event-recorder.ts';
import type { KubernetesApi } from '../../../../../src/infra/kube/client/kubernetes-api.ts';
import { openKubernetesApi } from '../../../../../src/infra/kube/client/open-kubernetes-api.ts';
import { type ControlPlane, sharedControlPlane } from '../../../../support/kubernetes/control-plane.ts';
import {
  CONFIG_MAPS,
  type ConfigMap,
  configMap,
  makeNamespace,
  NAMESPACES,
} from '../../../../support/kubernetes/objects.ts';

const SCALED: EventContent = {
  type: 'Normal',
  reason: 'ScaledUp',
  action: 'Scale',
  note: 'from 1 to 3 replicas',
};

describe('events in a real API server', () => {
  let plane: ControlPlane;
  let api: KubernetesApi;
  let namespace: string;
  let about: ConfigMap;
  let recorder: EventRecorder;
  let warnings: unknown[];
  before(async () => {
    plane = await sharedControlPlane();
    api = await openKubernetesApi({ kubeconfigPath: plane.kubeconfigPath });
  });
  after(() => api?.close());
  beforeEach(async () => {
    namespace = await makeNamespace(api);
    about = await api.create(CONFIG_MAPS, configMap(namespace, 'pool'));
    warnings = [];
    recorder = new EventRecorder({
      api,
      logger: { warn: (it: unknown) => warnings.push(it) },
      controller: 'platen.dev/controller',
      instance: 'controller-0',
    });
  });
  afterEach(() => assert.deepEqual(warnings, []));

  const events = () => api.list(EVENTS, { namespace });

  it('are written once with their count', async () => {
    for (let n = 0; n < 7; n += 1) recorder.record(about, SCALED);
    recorder.record(about, { ...SCALED, note: 'from 3 to 4 replicas' });
    await recorder.flush();
    const kept = (await events()).map(({ series }) => series?.count ?? 1).sort();
    assert.deepEqual(kept, [1, 7]);
    recorder.record(about, SCALED);
    await recorder.flush();
    assert.deepEqual((await events()).map(({ series }) => series?.count ?? 1).sort(), [1, 8]);
  });

  it('are shown by kubectl with their object', async () => {
    recorder.record(about, SCALED);
    recorder.record(about, SCALED);
    await recorder.flush();
    const shown = await plane.kubectl('-n', namespace, 'events', '--for', 'configmap/pool');
    assert.match(shown, /x2 .*Normal +ScaledUp +ConfigMap\/pool +from 1 to 3 replicas/);
  });

  it('are written anew when they have expired meanwhile', async () => {
    recorder.record(about, SCALED);
    await recorder.flush();
    for (const { metadata } of await events()) await api.delete(EVENTS, metadata);
    recorder.record(about, SCALED);
    await recorder.flush();
    assert.deepEqual(
      (await events()).map(({ series }) => series?.count),
      [2],
    );
  });

  it('are dropped for an object with too many of them, and for no other', async () => {
    const other = await api.create(CONFIG_MAPS, configMap(namespace, 'other'));
    for (let n = 0; n < 100; n += 1) recorder.record(about, { ...SCALED, note: `note ${n}` });
    recorder.record(other, SCALED);
    await recorder.flush();
    assert.equal((await events()).length, 25 + 1);
  });

  it("of cluster-scoped objects are kept in the default namespace, and cut to the server's limit", async () => {
    const whole = (await api.get(NAMESPACES, { name: namespace }))!;
    recorder.record(whole, { ...SCALED, note: 'ä'.repeat(2000) });
    await recorder.flush();
    const kept = await api.list(EVENTS, {
      namespace: 'default',
      fieldSelector: `regarding.name=${namespace}`,
    });
    assert.equal(kept.length, 1);
  });
});
