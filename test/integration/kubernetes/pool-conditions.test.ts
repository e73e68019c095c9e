import assert from 'node:assert/strict';
import { findCondition } from '../../../src/infra/kube/client/conditions.ts';
import type { KubernetesApi } from '../../../src/infra/kube/client/kubernetes-api.ts';
import { openKubernetesApi } from '../../../src/infra/kube/client/open-kubernetes-api.ts';
import { DEPLOYMENTS, PODS, RENDER_POOLS } from '../../../src/kubernetes/resources/kinds.ts';
import { eventually } from '../../support/eventually.ts';
import { type ControlPlane, startControlPlane } from '../../support/kubernetes/control-plane.ts';
import {
  type ControllerProcess,
  startControllerProcess,
} from '../../support/kubernetes/controller-process.ts';
import { eventsAbout, makeNamespace } from '../../support/kubernetes/objects.ts';
import { PoolRig } from '../../support/kubernetes/pool-rig.ts';
import { startMongo } from '../../support/mongo.ts';

/** Where the definition of a pool has the schema of the affinity. */
const AFFINITY = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/affinity';

describe('the conditions of a pool, at a real API server', () => {
  let plane: ControlPlane;
  let api: KubernetesApi;
  let namespace: string;
  let rig: PoolRig;
  let controller: ControllerProcess;

  before(async () => {
    const [{ uri }, started] = await Promise.all([startMongo(), startControlPlane()]);
    plane = started;
    await plane.installCrds();
    api = await openKubernetesApi({ kubeconfigPath: plane.kubeconfigPath });
    namespace = await makeNamespace(api);
    rig = await PoolRig.open(api, namespace, uri);
    await loosenDefinition();
    const { kubeconfigPath } = plane;
    controller = await startControllerProcess({ kubeconfigPath, mongoUri: uri, namespace });
    await controller.works();
  });
  after(async () => {
    await controller?.stop();
    await rig?.close();
    await api?.close();
    await plane?.stop();
  });
  afterEach(function () {
    if (this.currentTest?.state === 'failed') console.log(controller.log.slice(-15).join('\n'));
  });

  /** As earlier versions had it: with any field of the affinity. Before the controller watches, since watches end by it. */
  const loosenDefinition = async () => {
    const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const patch = JSON.stringify([{ op: 'replace', path: AFFINITY, value: schema }]);
    await plane.kubectl('patch', 'crd', 'renderpools.platen.dev', '--type=json', '-p', patch);
    await rig.createPool('probe', { minReplicas: 0 });
    await eventually('the definition is served', async () => {
      const spec = { affinity: { nodeAffinty: {} } };
      const probe = await api.mergePatch(RENDER_POOLS, named('probe'), { spec });
      return Object.hasOwn(probe.spec.affinity ?? {}, 'nodeAffinty');
    });
    await api.delete(RENDER_POOLS, named('probe'));
  };
  const named = (name: string) => ({ namespace, name });
  const condition = async (pool: string, type: string) =>
    findCondition((await rig.pool(pool)).status?.conditions, type);
  const becomes = (pool: string, type: string, reason: string) =>
    eventually(`${type} of ${pool} is ${reason}`, async () => {
      return (await condition(pool, type))?.reason === reason;
    }).catch(async (error: Error) => assert.fail(`${error.message}; ${await rig.summary(pool)}`));
  /** A line of `kubectl get rpool`. */
  const listed = async (pool: string) =>
    (await plane.kubectl('get', 'rpool', '-n', namespace)).split('\n').find((line) => line.startsWith(pool));
  const reported = async (pool: string, reason: string) =>
    (await eventsAbout(api, namespace, pool)).find((event) => event.reason === reason);

  it('are Ready when its workers can work, for kubectl wait', async () => {
    await rig.createPool('fine', { minReplicas: 2 });
    await eventually('two', async () => (await rig.deployment('fine'))?.spec.replicas === 2);
    await becomes('fine', 'Ready', 'WorkersStarting');
    await rig.settle('fine');
    await plane.kubectl('wait', '--for=condition=Ready', 'rpool/fine', '-n', namespace, '--timeout=240s');
    const ready = await condition('fine', 'Ready');
    assert.equal(ready?.observedGeneration, (await rig.pool('fine')).metadata.generation);
    assert.match((await listed('fine')) ?? '', / Ready +\S+$/);
  });

  it('are Ready while more workers start than there must be', async () => {
    await api.mergePatch(RENDER_POOLS, named('fine'), { spec: { headroomSlots: 6 } });
    await eventually('more', async () => ((await rig.deployment('fine'))?.spec.replicas ?? 0) > 2);
    await becomes('fine', 'Available', 'MoreStarting');
    assert.equal((await condition('fine', 'Ready'))?.status, 'True');
    await rig.settle('fine');
  });

  describe('with a wrong field of the affinity, which the definition lets pass', () => {
    it('tell that the API server refuses the workers, and their number follows on', async () => {
      await rig.createPool('typo', { minReplicas: 1 });
      await eventually('one', async () => (await rig.deployment('typo'))?.spec.replicas === 1);
      const spec = { affinity: { nodeAffinty: {} }, minReplicas: 4 };
      const { metadata } = await api.mergePatch(RENDER_POOLS, named('typo'), { spec });
      await eventually('four', async () => (await rig.deployment('typo'))?.spec.replicas === 4);
      await becomes('typo', 'WorkersApplied', 'Refused');
      const { status } = await rig.pool('typo');
      assert.equal(status?.observedGeneration, metadata.generation);
      assert.equal(status?.desiredReplicas, 4);
      const { message = '' } = findCondition(status?.conditions, 'WorkersApplied') ?? {};
      assert.match(message, /Deployment platen-pool-typo is refused.*nodeAffinty/);
      const ready = findCondition(status?.conditions, 'Ready');
      assert.deepEqual([ready?.status, ready?.reason, ready?.message], ['False', 'Refused', message]);
      assert.match((await listed('typo')) ?? '', / Refused +\S+$/);
      await eventually('an event', async () => (await reported('typo', 'Refused')) !== undefined);
      await eventually('counted', async () =>
        /platen_pool_not_applied\{[^}]*pool="typo"[^}]*\} 1/.test(await controller.metrics()),
      );
      // Down as well, by workers that are empty.
      await rig.settle('typo');
      await api.mergePatch(RENDER_POOLS, named('typo'), {
        spec: { mode: 'Manual', replicas: 3, workerYoungSeconds: 0 },
      });
      await eventually('three', async () => {
        await rig.settle('typo');
        return (await rig.deployment('typo'))?.spec.replicas === 3;
      });
    });

    it('end with the mistake', async () => {
      await api.mergePatch(RENDER_POOLS, named('typo'), { spec: { affinity: null } });
      await becomes('typo', 'WorkersApplied', 'Applied');
      assert.equal((await rig.deployment('typo'))?.spec.replicas, 3);
    });

    it('tell of a new pool that it has no Deployment, and so no size', async () => {
      const spec = { affinity: { foo: 'bar' }, minReplicas: 2 };
      await rig.createPool('stillborn', spec as object);
      await becomes('stillborn', 'WorkersApplied', 'Refused');
      assert.equal((await condition('stillborn', 'ScalingLimited'))?.reason, 'NotApplied');
      assert.equal((await rig.pool('stillborn')).status?.desiredReplicas, 0);
      assert.equal(await rig.deployment('stillborn'), undefined);
    });
  });

  it('name what keeps workers from starting', async () => {
    await rig.createPool('stuck', { minReplicas: 1 });
    await eventually('one', async () => (await rig.deployment('stuck'))?.spec.replicas === 1);
    const deployment = async (conditions: readonly object[]) =>
      api.mergePatch(
        DEPLOYMENTS,
        named('platen-pool-stuck'),
        { status: { conditions } },
        { subresource: 'status' },
      );
    const exceeded = 'pods "platen-pool-stuck-1" is forbidden: exceeded quota: small';
    await deployment([{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: exceeded }]);
    await becomes('stuck', 'Available', 'FailedCreate');
    assert.match((await condition('stuck', 'Ready'))?.message ?? '', /exceeded quota: small/);
    await deployment([]);
    await rig.settle('stuck');
    await becomes('stuck', 'Ready', 'Ready');
    const [pod] = await rig.pods('stuck');
    const waits = (reason: string, message: string, lastState?: object) => {
      const container = { name: 'worker', image: 'a', imageID: '', restartCount: 0, ready: false };
      const status = {
        phase: 'Pending',
        conditions: [{ type: 'Ready', status: 'False' }],
        containerStatuses: [{ ...container, state: { waiting: { reason, message } }, lastState }],
      };
      return api.mergePatch(PODS, pod!.metadata, { status }, { subresource: 'status' });
    };
    await waits('ErrImagePull', 'no such image: platen:tset');
    await becomes('stuck', 'Available', 'ImagePullBackOff');
    const { message = '' } = (await condition('stuck', 'Available')) ?? {};
    assert.ok(
      message.includes(`${pod!.metadata.name} does not start: ErrImagePull: no such image: platen:tset`),
    );
    assert.equal((await condition('stuck', 'Ready'))?.reason, 'ImagePullBackOff');
    assert.match((await listed('stuck')) ?? '', / ImagePullBackOff +\S+$/);
    await eventually('an event', async () =>
      Boolean((await reported('stuck', 'ImagePullBackOff'))?.note?.includes('no such image')),
    );
    await waits('CreateContainerConfigError', 'secret "platen" not found');
    await becomes('stuck', 'Available', 'CreateContainerConfigError');
    const terminated = { exitCode: 1, reason: 'Error', message: 'MONGODB_URI is missing' };
    await waits('CrashLoopBackOff', 'back-off 5m0s', { terminated });
    await becomes('stuck', 'Available', 'CrashLoopBackOff');
    const said = (await condition('stuck', 'Available'))?.message ?? '';
    assert.match(
      said,
      /back-off 5m0s. It ended before with the exit code 1 \(Error: MONGODB_URI is missing\)/,
    );
  });
});
