import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCondition } from '../../../src/infra/kube/client/conditions.ts';
import type { KubernetesApi } from '../../../src/infra/kube/client/kubernetes-api.ts';
import { openKubernetesApi } from '../../../src/infra/kube/client/open-kubernetes-api.ts';
import { RENDER_PLANS, RENDER_POOLS } from '../../../src/kubernetes/resources/kinds.ts';
import { PlanMirror } from '../../../src/tenants/plans/plan-mirror.ts';
import { LEAST, over, render } from '../../chart/support/helm.ts';
import { eventually } from '../../support/eventually.ts';
import { type ControlPlane, startControlPlane } from '../../support/kubernetes/control-plane.ts';
import {
  type ControllerProcess,
  startControllerProcess,
} from '../../support/kubernetes/controller-process.ts';
import { makeNamespace } from '../../support/kubernetes/objects.ts';
import { PoolRig } from '../../support/kubernetes/pool-rig.ts';
import { grantRights, kubeconfigOf } from '../../support/kubernetes/service-account.ts';
import { startMongo } from '../../support/mongo.ts';

const ACCOUNT = 'platen-controller';

describe('a watched namespace that the controller may no longer read', () => {
  let plane: ControlPlane;
  let api: KubernetesApi;
  let folder: string;
  /** The namespace of the release, and another one that it watches. */
  let home: string;
  let away: string;
  let atHome: PoolRig;
  let elsewhere: PoolRig;
  let mirror: PlanMirror;
  let controller: ControllerProcess;
  let start: () => Promise<void>;

  before(async () => {
    const [{ uri }, started] = await Promise.all([startMongo(), startControlPlane()]);
    plane = started;
    await plane.installCrds();
    api = await openKubernetesApi({ kubeconfigPath: plane.kubeconfigPath });
    // Of two objects that are made within a second, the one in the first namespace has the name.
    [away, home] = [await makeNamespace(api), await makeNamespace(api)].sort() as [string, string];
    [atHome, elsewhere] = [await PoolRig.open(api, home, uri), await PoolRig.open(api, away, uri)];
    mirror = new PlanMirror(atHome.connection);
    folder = await mkdtemp(join(tmpdir(), 'platen-unreadable-'));
    const values = over(LEAST, { controller: { watchNamespaces: [home, away] } });
    await grantRights(plane, folder, await render('helm4', values, { namespace: home }));
    const kubeconfigPath = await kubeconfigOf(plane, folder, { namespace: home, name: ACCOUNT });
    start = async () => {
      controller = await startControllerProcess({
        kubeconfigPath,
        mongoUri: uri,
        namespace: home,
        environment: { PLATEN_WATCH_NAMESPACES: `${home},${away}` },
        defaultResources: `
          - apiVersion: platen.dev/v1alpha1
            kind: RenderPlan
            metadata: { name: first, namespace: ${away} }
            spec: {}
          - apiVersion: platen.dev/v1alpha1
            kind: RenderPlan
            metadata: { name: second }
            spec: {}
        `,
      });
      await controller.works();
    };
  });
  after(async () => {
    await controller?.stop();
    await Promise.all([atHome?.close(), elsewhere?.close()]);
    await api?.close();
    await plane?.stop();
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(function () {
    if (this.currentTest?.state === 'failed') console.log(controller.log.slice(-15).join('\n'));
  });

  const until = (what: string, holds: () => boolean | Promise<boolean>) => eventually(what, holds);
  const condition = async (pool: string, type: string) =>
    findCondition((await atHome.pool(pool)).status?.conditions, type);
  const planOf = async (name: string) => (await mirror.read())?.set.plans.get(name);
  const gauge = async (name: string) =>
    Number(new RegExp(`^${name} (\\S+)`, 'm').exec(await controller.metrics())?.[1]);
  const unreadable = (namespace: string) =>
    gauge(`platen_namespace_unreadable{watched_namespace="${namespace}"[^}]*}`);
  const missing = () => gauge('platen_default_resources_missing\\S*');
  const bind = async (verb: 'delete' | 'create') => {
    const rest = verb === 'create' ? ['--role', ACCOUNT, '--serviceaccount', `${home}:${ACCOUNT}`] : [];
    await plane.kubectl(verb, 'rolebinding', ACCOUNT, '-n', away, ...rest);
  };

  it('stays unchanged, and holds up no other, when the controller starts anew', async () => {
    await bind('delete');
    await start();
    // What has never been readable: nothing of it is in force, and the rest is worked on.
    await atHome.createPool('default', { minReplicas: 1 });
    await until('workers', async () => (await atHome.deployment('default'))?.spec.replicas === 1);
    await until('the default that may be made is', async () => (await missing()) === 1);
    assert.ok(await atHome.plan('second'));

    await bind('create');
    await until('the other default is made', async () => (await missing()) === 0);
    await elsewhere.createPool('there', { minReplicas: 2, slotsPerWorker: 3 });
    await elsewhere.createPlan('theirs', { concurrentRenders: 33 });
    await until('theirs is in force', async () => (await planOf('theirs'))?.concurrentRenders === 33);
    await until('it has workers', async () => (await elsewhere.deployment('there'))?.spec.replicas === 2);
    await atHome.createPlan('ours', { poolRef: 'there' });
    await atHome.createPlan('theirs', { concurrentRenders: 44 });
    await until('ours is in force', async () => (await planOf('ours'))?.poolRef === 'there');
    await controller.stop();
    await bind('delete');
    await elsewhere.createPool('unseen');
    await start();

    await atHome.createPool('fresh', { minReplicas: 1 });
    await until(
      'a new pool has workers',
      async () => (await atHome.deployment('fresh'))?.spec.replicas === 1,
    );
    await until('it says why not all is well', async () => {
      const { status, reason, message } = (await condition('fresh', 'NamespacesReadable')) ?? {};
      assert.ok(message === undefined || message.includes(away), message);
      return status === 'False' && reason === 'NamespaceUnreadable';
    });
    await until('so does an event', async () => {
      const events = await plane.kubectl(
        'get',
        'events',
        '-n',
        home,
        '-o',
        'name',
        '--field-selector',
        'reason=NamespaceUnreadable',
      );
      return events.trim() !== '';
    });
    await until('the metric', async () => (await unreadable(away)) === 1 && (await unreadable(home)) === 0);
    assert.equal(await controller.readiness(), 200);
    // An edit goes through, and takes nothing of the other namespace with it, nor gives its names away.
    await api.mergePatch(RENDER_PLANS, { namespace: home, name: 'ours' }, { spec: { monthlyRenders: 7 } });
    await until('the edit is in force', async () => (await planOf('ours'))?.monthlyRenders === 7);
    assert.equal((await planOf('ours'))?.poolRef, 'there');
    assert.equal((await planOf('theirs'))?.concurrentRenders, 33);
    assert.equal((await mirror.read())?.set.pools.get('there')?.slotsPerWorker, 3);
    const taken = await atHome.plan('theirs');
    assert.equal(findCondition(taken?.status?.conditions, 'Accepted')?.reason, 'NameTaken');
  });

  it('is managed again without a restart once it may be read', async () => {
    await api.mergePatch(RENDER_POOLS, { namespace: away, name: 'there' }, { spec: { minReplicas: 3 } });
    await bind('create');
    await until('it is sized', async () => (await elsewhere.deployment('there'))?.spec.replicas === 3);
    await until(
      'the pool that could not be read has workers',
      async () => (await elsewhere.deployment('unseen')) !== undefined,
    );
    await until('reported', async () => (await condition('fresh', 'NamespacesReadable'))?.status === 'True');
    await until('the metric', async () => (await unreadable(away)) === 0);
    // Now it can be seen that it is gone.
    await api.delete(RENDER_PLANS, { namespace: away, name: 'theirs' });
    await until('the name has gone over', async () => (await planOf('theirs'))?.concurrentRenders === 44);
  });

  it('has its partly readable pools left alone, and each of them reports it', async () => {
    const withoutPods =
      '[{"op":"replace","path":"/rules","value":[{"apiGroups":["platen.dev"],"resources":["renderpools","renderplans","renderpools/status"],"verbs":["list","watch","patch"]}]}]';
    const role = (patch: string) =>
      plane.kubectl('patch', 'role', ACCOUNT, '-n', away, '--type', 'json', '-p', patch);
    await controller.stop();
    await role(withoutPods);
    await start();
    await until('reported', async () => {
      const { status } = await elsewhere.pool('there');
      const accepted = findCondition(status?.conditions, 'Accepted');
      return accepted?.reason === 'NamespaceUnreadable' && /Pod/.test(accepted.message ?? '');
    });
    assert.equal((await elsewhere.deployment('there'))?.spec.replicas, 3);
    assert.equal((await mirror.read())?.set.pools.get('there')?.slotsPerWorker, 3);
  });
});
