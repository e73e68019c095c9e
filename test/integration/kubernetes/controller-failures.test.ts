import assert from 'node:assert/strict';
import { findCondition } from '../../../src/infra/kube/client/conditions.ts';
import type { Kind, KubeObject } from '../../../src/infra/kube/client/kube-object.ts';
import type { KubernetesApi } from '../../../src/infra/kube/client/kubernetes-api.ts';
import { openKubernetesApi } from '../../../src/infra/kube/client/open-kubernetes-api.ts';
import { RENDER_PLANS, RENDER_POOLS } from '../../../src/kubernetes/resources/kinds.ts';
import { PlanMirror } from '../../../src/tenants/plans/plan-mirror.ts';
import { eventually } from '../../support/eventually.ts';
import { type ControlPlane, startControlPlane } from '../../support/kubernetes/control-plane.ts';
import {
  type ControllerProcess,
  startControllerProcess,
} from '../../support/kubernetes/controller-process.ts';
import { CONFIG_MAPS, eventsAbout, makeNamespace } from '../../support/kubernetes/objects.ts';
import { PoolRig } from '../../support/kubernetes/pool-rig.ts';
import { startMongo } from '../../support/mongo.ts';

const LEASES: Kind<KubeObject<{ readonly spec: { readonly holderIdentity?: string } }>> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
};

describe('platen controller, after a failure', () => {
  let plane: ControlPlane;
  let api: KubernetesApi;
  let mongoUri: string;
  let namespace: string;
  let rig: PoolRig;
  const running: ControllerProcess[] = [];

  before(async () => {
    const [{ uri }, started] = await Promise.all([startMongo(), startControlPlane()]);
    mongoUri = uri;
    plane = started;
    await plane.installCrds();
    api = await openKubernetesApi({ kubeconfigPath: plane.kubeconfigPath });
  });
  beforeEach(async () => {
    namespace = await makeNamespace(api);
    rig = await PoolRig.open(api, namespace, mongoUri);
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed')
      for (const { log } of running) console.log(log.slice(-15).join('\n'));
    await Promise.all(running.splice(0).map((controller) => controller.stop('SIGKILL')));
    await rig.close();
  });
  after(async () => {
    await api?.close();
    await plane?.stop();
  });

  const start = async (name: string, defaultResources?: string) => {
    const options = { kubeconfigPath: plane.kubeconfigPath, mongoUri, namespace, name };
    const controller = await startControllerProcess({
      ...options,
      ...(defaultResources && { defaultResources }),
    });
    running.push(controller);
    return controller;
  };
  const leads = ({ log }: ControllerProcess) => log.some((line) => line.includes('the controller works'));

  it('works in one of two processes, and continues in the other when that one stops', async () => {
    const first = await start('controller-a');
    await first.works();
    const second = await start('controller-b');
    await rig.createPool('small', { minReplicas: 2 });
    await eventually('two', async () => (await rig.deployment('small'))?.spec.replicas === 2);
    assert.equal(leads(second), false);
    const changed = await rig.deployment('small');
    assert.equal(await first.stop(), 0);
    await second.works();
    const kept = await rig.deployment('small');
    assert.equal(kept?.spec.replicas, 2);
    assert.equal(
      kept?.metadata.generation,
      changed?.metadata.generation,
      'what is there is taken over as it is',
    );
  });

  it('ends when it can no longer keep its Lease', async () => {
    const controller = await start('controller-a');
    await controller.works();
    const ref = { namespace, name: 'platen-controller' };
    await api.mergePatch(LEASES, ref, {
      spec: { holderIdentity: 'somebody-else', leaseDurationSeconds: 15 },
    });
    assert.equal(await controller.ended, 1);
    assert.match(controller.log.join('\n'), /the Lease is held by somebody-else/);
  });

  it('does not restore a default resource that was deleted', async () => {
    const defaults =
      '[{ apiVersion: platen.dev/v1alpha1, kind: RenderPool, metadata: { name: default }, spec: { minReplicas: 0 } }]';
    const first = await start('controller-a', defaults);
    await first.works();
    const noted = { namespace, name: 'platen-controller-made' };
    await eventually('it is made', async () => (await api.get(CONFIG_MAPS, noted)) !== undefined);
    await api.delete(RENDER_POOLS, { namespace, name: 'default' });
    await first.stop();
    const second = await start('controller-b', defaults);
    await second.works();
    const asked = /platen_default_resources_missing\S* 0/;
    await eventually('it knows what was made', async () => asked.test(await second.metrics()));
    assert.equal(await api.get(RENDER_POOLS, { namespace, name: 'default' }), undefined);
  });

  it('makes no default resource with a field that does not exist, and says which', async () => {
    const resource = (kind: string, name: string, spec: string) =>
      `{ apiVersion: platen.dev/v1alpha1, kind: ${kind}, metadata: { name: ${name} }, spec: ${spec} }`;
    const controller = await start(
      'controller-a',
      `[${resource('RenderPool', 'extra', '{ maxReplica: 20 }')}, ${resource('RenderPlan', 'gold', '{ monthlyRender: 5 }')}, ${resource('RenderPlan', 'silver', '{}')}]`,
    );
    await controller.works();
    const missing = /platen_default_resources_missing\S* 2/;
    await eventually('two are missing', async () => missing.test(await controller.metrics()));
    for (const [name, field] of [
      ['extra', 'maxReplica'],
      ['gold', 'monthlyRender'],
    ] as const) {
      await eventually('an event', async () =>
        (await eventsAbout(api, namespace, name)).some(
          ({ reason, note }) =>
            reason === 'DefaultRefused' && note?.includes(`unknown field "spec.${field}"`),
        ),
      );
    }
    assert.equal(await api.get(RENDER_POOLS, { namespace, name: 'extra' }), undefined);
    assert.equal(await rig.plan('gold'), undefined);
    const { annotations } = (await rig.plan('silver'))!.metadata;
    assert.equal(annotations?.['platen.dev/installation'], `${namespace}/platen-controller`);
    // Three tries on: each refusal is logged once.
    const tries = /platen_kubernetes_calls_total\{[^}]*method="POST",status="400"[^}]*\} ([6-9]|\d\d)/;
    await eventually('tried again', async () => tries.test(await controller.metrics()));
    const logged = controller.log.filter((line) => line.includes('a default resource could not be made'));
    assert.equal(logged.length, 2);
  });

  it('keeps the plans and the sizes while the API server is away, and catches up afterwards', async () => {
    const controller = await start('controller-a');
    await controller.works();
    let ended = false;
    void controller.ended.then(() => {
      ended = true;
    });
    // As a kubelet does: where the API server takes long to come back, the Lease is lost, and the process ends.
    const startAgain = async () => {
      if (!ended) return;
      ended = false;
      await start('controller-b');
    };
    const mirror = new PlanMirror(rig.connection);
    await rig.createPlan('steady', { concurrentRenders: 4 });
    const limit = async () => (await mirror.read())?.set.plans.get('steady')?.concurrentRenders;
    await eventually('it is in force', async () => (await limit()) === 4);
    await plane.haltApiServer();
    await new Promise((resolve) => setTimeout(resolve, 5000));
    assert.equal(await limit(), 4);
    await plane.restartApiServer();
    await api.mergePatch(RENDER_PLANS, { namespace, name: 'steady' }, { spec: { concurrentRenders: 5 } });
    await eventually('the edit is in force', async () => {
      await startAgain();
      return (await limit()) === 5;
    });
    const conditions = async () => (await rig.plan('steady'))?.status?.conditions;
    await eventually('reported', async () => {
      await startAgain();
      return findCondition(await conditions(), 'Accepted')?.reason === 'Valid';
    });
  });
});
