import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCondition } from '../../../src/infra/kube/client/conditions.ts';
import type { KubernetesApi } from '../../../src/infra/kube/client/kubernetes-api.ts';
import { openKubernetesApi } from '../../../src/infra/kube/client/open-kubernetes-api.ts';
import { RENDER_PLANS, RENDER_POOLS } from '../../../src/kubernetes/resources/kinds.ts';
import { DEFAULT_PLANS } from '../../../src/tenants/plans/plan.ts';
import { PlanMirror } from '../../../src/tenants/plans/plan-mirror.ts';
import { eventually } from '../../support/eventually.ts';
import { type ControlPlane, startControlPlane } from '../../support/kubernetes/control-plane.ts';
import {
  type ControllerProcess,
  startControllerProcess,
  WORKER_TEMPLATE,
} from '../../support/kubernetes/controller-process.ts';
import { eventsAbout, makeNamespace } from '../../support/kubernetes/objects.ts';
import { PoolRig } from '../../support/kubernetes/pool-rig.ts';
import { startMongo } from '../../support/mongo.ts';

const INSTALLATION = 'platen.dev/installation';

describe('two installations that watch one namespace', () => {
  let plane: ControlPlane;
  let api: KubernetesApi;
  let folder: string;
  /** The namespace of the first, and that of the second, which watches the first's as well. */
  let home: string;
  let other: string;
  let rig: PoolRig;
  let othersRig: PoolRig;
  let first: ControllerProcess;
  let second: ControllerProcess;

  before(async () => {
    const [mine, theirs] = [await startMongo(), await startMongo()];
    plane = await startControlPlane();
    await plane.installCrds();
    api = await openKubernetesApi({ kubeconfigPath: plane.kubeconfigPath });
    [home, other] = [await makeNamespace(api), await makeNamespace(api)];
    rig = await PoolRig.open(api, home, mine.uri);
    othersRig = await PoolRig.open(api, other, theirs.uri);
    const { kubeconfigPath } = plane;
    first = await startControllerProcess({ kubeconfigPath, mongoUri: mine.uri, namespace: home });
    await first.works();
    await rig.createPool('shared', { minReplicas: 2 });
    await rig.createPlan('gold', { concurrentRenders: 20 });
    await eventually('two', async () => (await rig.deployment('shared'))?.spec.replicas === 2);
    await eventually('claimed', async () => (await rig.plan('gold'))?.status?.managedBy !== undefined);
    folder = await mkdtemp(join(tmpdir(), 'platen-installations-'));
    const template = join(folder, 'template.yaml');
    await writeFile(template, WORKER_TEMPLATE.replace('platen:test', 'platen:staging'));
    second = await startControllerProcess({
      kubeconfigPath,
      mongoUri: theirs.uri,
      namespace: other,
      name: 'staging-0',
      environment: {
        PLATEN_WATCH_NAMESPACES: `${other},${home}`,
        PLATEN_WORKER_TEMPLATE_FILE: template,
        PLATEN_LEASE_NAME: 'staging-controller',
      },
    });
    await second.works();
  });
  after(async () => {
    await Promise.all([first?.stop(), second?.stop()]);
    await Promise.all([rig?.close(), othersRig?.close()]);
    await api?.close();
    await plane?.stop();
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(function () {
    if (this.currentTest?.state !== 'failed') return;
    for (const { name, log } of [first, second]) console.log(name, log.slice(-10).join('\n'));
  });

  const image = async () => {
    const { containers } = (await rig.deployment('shared'))!.spec.template.spec as {
      containers: { image: string }[];
    };
    return containers[0]?.image;
  };
  const standsBack = (controller: ControllerProcess, kind: string) =>
    eventually(`${controller.name} leaves a ${kind} alone`, async () =>
      new RegExp(`platen_managed_elsewhere\\{[^}]*kind="${kind}"[^}]*\\} 1`).test(await controller.metrics()),
    );

  it('leave what is the first’s to it: the second says so, and writes nothing', async () => {
    await standsBack(second, 'RenderPool');
    await standsBack(second, 'RenderPlan');
    for (const name of ['shared', 'gold']) {
      await eventually('an event', async () =>
        (await eventsAbout(api, home, name)).some(
          ({ reason, note }) =>
            reason === 'ManagedElsewhere' && note?.includes(`${other}/staging-controller`),
        ),
      );
    }
    assert.equal((await rig.pool('shared')).status?.managedBy, `${home}/platen-controller`);
    const { generation, annotations } = (await rig.deployment('shared'))!.metadata;
    assert.equal(generation, 1, 'nobody has changed it since it was made');
    assert.equal(annotations?.[INSTALLATION], `${home}/platen-controller`);
    // A change of the pool is for the first alone. Once the second has worked after it, it has seen it as well.
    await api.mergePatch(RENDER_POOLS, { namespace: home, name: 'shared' }, { spec: { minReplicas: 3 } });
    await eventually('three', async () => (await rig.deployment('shared'))?.spec.replicas === 3);
    await othersRig.createPool('own', { minReplicas: 1 });
    await eventually('its own', async () => (await othersRig.deployment('own'))?.spec.replicas === 1);
    assert.equal((await rig.deployment('shared'))?.metadata.generation, 2);
    assert.equal(await image(), 'platen:test');
    const mirrored = await new PlanMirror(othersRig.connection).read();
    assert.equal(mirrored?.set.plans.has('gold'), false);
    assert.equal(mirrored?.set.pools.has('shared'), false);
  });

  it('keep a pool and a plan where they are while nobody has the name of the annotation', async () => {
    const annotate = (object: string, value: string) =>
      plane.kubectl('annotate', object, `${INSTALLATION}=${value}`, '--overwrite', '-n', home);
    await annotate('rpool/shared', 'nowhere/platen-controler');
    await annotate('rplan/gold', 'nowhere/platen-controler');
    for (const name of ['shared', 'gold']) {
      await eventually('an event', async () =>
        (await eventsAbout(api, home, name)).some(
          ({ reason, note }) => reason === 'HandOverPending' && note?.includes('nowhere/platen-controler'),
        ),
      );
    }
    await api.mergePatch(RENDER_POOLS, { namespace: home, name: 'shared' }, { spec: { minReplicas: 4 } });
    await eventually('four', async () => (await rig.deployment('shared'))?.spec.replicas === 4);
    assert.equal(await image(), 'platen:test');
    assert.equal((await rig.pool('shared')).status?.managedBy, `${home}/platen-controller`);
    await annotate('rpool/shared', '');
    await standsBack(second, 'RenderPool');
    assert.equal((await rig.pool('shared')).status?.managedBy, `${home}/platen-controller`);
  });

  it('hand a pool and a plan over by an annotation', async () => {
    const id = `${other}/staging-controller`;
    const annotate = (object: string) =>
      plane.kubectl('annotate', object, `${INSTALLATION}=${id}`, '--overwrite', '-n', home);
    await annotate('rpool/shared');
    await annotate('rplan/gold');
    await eventually('the workers are the second’s', async () => (await image()) === 'platen:staging');
    await eventually('claimed', async () => (await rig.pool('shared')).status?.managedBy === id);
    await eventually('claimed', async () => (await rig.plan('gold'))?.status?.managedBy === id);
    await standsBack(first, 'RenderPool');
    await standsBack(first, 'RenderPlan');
    const mirror = new PlanMirror(othersRig.connection);
    await eventually('gold is in force', async () => (await mirror.read())?.set.plans.has('gold') === true);
    assert.equal((await rig.deployment('shared'))?.metadata.annotations?.[INSTALLATION], id);
  });

  it('let built-in names count only in the namespace of the release', async () => {
    await rig.createPool('default', { minReplicas: 1 });
    await rig.createPlan('free', { monthlyRenders: 9_999 });
    // Both watch this namespace, and only for the first it is its own.
    await eventually('accepted', async () => {
      const { conditions } = (await rig.pool('default')).status ?? {};
      return findCondition(conditions, 'Accepted') !== undefined;
    });
    const annotations = { [INSTALLATION]: `${other}/staging-controller` };
    await api.mergePatch(RENDER_POOLS, { namespace: home, name: 'default' }, { metadata: { annotations } });
    await api.mergePatch(RENDER_PLANS, { namespace: home, name: 'free' }, { metadata: { annotations } });
    for (const read of [() => rig.pool('default'), () => rig.plan('free')]) {
      await eventually('refused', async () => {
        const ready = findCondition((await read())?.status?.conditions, 'Ready');
        return ready?.reason === 'NameReserved' && ready.message.includes(other);
      });
    }
    const mirrored = await new PlanMirror(othersRig.connection).read();
    assert.deepEqual(mirrored?.set.plans.get('free'), DEFAULT_PLANS.free);
    assert.equal(mirrored?.set.pools.has('default'), false);
  });
});
