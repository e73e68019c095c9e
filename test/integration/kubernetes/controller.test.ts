import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { systemTimers } from '../../../src/infra/async/timers.ts';
import { findCondition } from '../../../src/infra/kube/client/conditions.ts';
import type { KubernetesApi } from '../../../src/infra/kube/client/kubernetes-api.ts';
import { openKubernetesApi } from '../../../src/infra/kube/client/open-kubernetes-api.ts';
import {
  DEPLOYMENTS,
  DISRUPTION_BUDGETS,
  NETWORK_POLICIES,
  PODS,
  RENDER_PLANS,
  RENDER_POOLS,
  SERVICE_ACCOUNTS,
} from '../../../src/kubernetes/resources/kinds.ts';
import { PlanMirror } from '../../../src/tenants/plans/plan-mirror.ts';
import { find, LEAST, render } from '../../chart/support/helm.ts';
import { eventually } from '../../support/eventually.ts';
import { callsOf, type Rule, unusedRights } from '../../support/kubernetes/audit-log.ts';
import { type ControlPlane, startControlPlane } from '../../support/kubernetes/control-plane.ts';
import {
  type ControllerProcess,
  startControllerProcess,
} from '../../support/kubernetes/controller-process.ts';
import { makeNamespace } from '../../support/kubernetes/objects.ts';
import { PoolRig } from '../../support/kubernetes/pool-rig.ts';
import { grantRights, kubeconfigOf } from '../../support/kubernetes/service-account.ts';
import { startMongo } from '../../support/mongo.ts';

const DEFAULTS = `
- { apiVersion: platen.dev/v1alpha1, kind: RenderPool, metadata: { name: default }, spec: { minReplicas: 1 } }
- { apiVersion: platen.dev/v1alpha1, kind: RenderPlan, metadata: { name: free }, spec: {} }
`;

/** Of the controller, and of its Role. */
const ACCOUNT = 'platen-controller';

/** The controller's gauges are as old as this at most, and some more on a slow machine. */
const GAUGES_EVERY_SECONDS = 2;

describe('platen controller, at a real API server', () => {
  let plane: ControlPlane;
  let api: KubernetesApi;
  let namespace: string;
  let controller: ControllerProcess;
  let rig: PoolRig;
  let mirror: PlanMirror;
  let folder: string;
  let rules: readonly Rule[];

  before(async () => {
    const [{ uri }, started] = await Promise.all([startMongo(), startControlPlane()]);
    plane = started;
    await plane.installCrds();
    api = await openKubernetesApi({ kubeconfigPath: plane.kubeconfigPath });
    namespace = await makeNamespace(api);
    rig = await PoolRig.open(api, namespace, uri);
    mirror = new PlanMirror(rig.connection);
    // With the rights that the chart gives it, and no others.
    folder = await mkdtemp(join(tmpdir(), 'platen-controller-rights-'));
    const manifests = await render('helm4', LEAST, { namespace });
    await grantRights(plane, folder, manifests);
    rules = find(manifests, 'Role', ACCOUNT).rules;
    const linkSecret = join(folder, 'link-secret.yaml');
    await writeFile(linkSecret, find(manifests, 'ConfigMap', ACCOUNT).data['link-secret.yaml']);
    controller = await startControllerProcess({
      kubeconfigPath: await kubeconfigOf(plane, folder, { namespace, name: ACCOUNT }),
      mongoUri: uri,
      namespace,
      defaultResources: DEFAULTS,
      environment: { PLATEN_LINK_SECRET_FILE: linkSecret },
    });
    await controller.works();
  });
  after(async () => {
    await controller?.stop();
    await rig?.close();
    await api?.close();
    await plane?.stop();
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(function () {
    if (this.currentTest?.state === 'failed') console.log(controller.log.slice(-15).join('\n'));
  });

  const named = (name: string) => ({ namespace, name });
  const poolReason = async (pool: string, type: string) =>
    findCondition((await rig.pool(pool)).status?.conditions, type)?.reason;
  /** Resolves when pools are sized by a demand that was read after this moment; a worker chosen before drains on. */
  const demandRead = (sinceMs = systemTimers.nowMs()) =>
    eventually('the demand is read', async () => {
      const passed = (systemTimers.nowMs() - sinceMs) / 1000;
      const age = Number(/^platen_demand_age_seconds\S* (\S+)/m.exec(await controller.metrics())?.[1]);
      return age + GAUGES_EVERY_SECONDS < passed;
    });
  const planReason = async (plan: string, type: string) =>
    findCondition((await rig.plan(plan))?.status?.conditions, type)?.reason;

  it('makes the default plans and the default pool', async () => {
    await eventually('the pool is made', async () => {
      const { minReplicas } = (await api.get(RENDER_POOLS, named('default')))?.spec ?? {};
      return minReplicas === 1;
    });
    await eventually(
      'the plan free is in force',
      async () => (await planReason('free', 'Accepted')) === 'Valid',
    );
  });

  it('gives a pool its Deployment, disruption budget, network policy and service account', async () => {
    await eventually(
      'a worker is asked for',
      async () => (await rig.deployment('default'))?.spec.replicas === 1,
    );
    const deployment = await rig.deployment('default');
    const { spec } = deployment!.spec.template as {
      spec: {
        automountServiceAccountToken: boolean;
        containers: { env: { name: string; value?: string }[] }[];
      };
    };
    assert.equal(spec.automountServiceAccountToken, false);
    const environment = new Map(spec.containers[0]?.env.map(({ name, value }) => [name, value]));
    assert.equal(environment.get('PLATEN_POOL'), 'default');
    assert.equal(environment.get('PLATEN_WORKER_SLOTS'), '2');
    assert.ok(environment.has('MONGODB_URI'));
    const account = await api.get(SERVICE_ACCOUNTS, named('platen-pool-default'));
    assert.equal(account?.automountServiceAccountToken, false);
    const budget = await api.get(DISRUPTION_BUDGETS, named('platen-pool-default'));
    assert.equal(budget?.spec?.unhealthyPodEvictionPolicy, 'AlwaysAllow');
    assert.ok(await api.get(NETWORK_POLICIES, named('platen-pool-default')));
  });

  it('puts an edited plan into force, and keeps the last valid one', async () => {
    await rig.createPlan('gold', { concurrentRenders: 20 });
    const inForce = async () => (await mirror.read())?.set.plans.get('gold');
    await eventually('gold is mirrored', async () => (await inForce())?.concurrentRenders === 20);
    assert.equal((await inForce())?.monthlyRenders, 100, 'the rest is as in the plan free');
    for (const concurrentRenders of [30, 31]) {
      await api.mergePatch(RENDER_PLANS, named('gold'), { spec: { concurrentRenders } });
      const edit = async () => (await inForce())?.concurrentRenders === concurrentRenders;
      await eventually('the edit is mirrored', edit);
    }
  });

  it('sends the jobs of a plan whose pool is missing to the default pool, and reports it', async () => {
    await rig.createPlan('placed', { poolRef: 'elsewhere' });
    await eventually('reported', async () => (await planReason('placed', 'PoolResolved')) === 'PoolNotFound');
    assert.equal((await mirror.read())?.set.plans.get('placed')?.poolRef, undefined);
    await rig.createPool('elsewhere', { minReplicas: 0 });
    await eventually('found', async () => (await planReason('placed', 'PoolResolved')) === 'PoolFound');
    assert.equal((await mirror.read())?.set.plans.get('placed')?.poolRef, 'elsewhere');
    await eventually('the pool tells whose jobs it runs', async () =>
      Boolean((await rig.pool('elsewhere')).status?.plans?.includes('placed')),
    );
  });

  it('releases a deleted plan at once, whose limits stay in force while accounts are on it', async () => {
    await rig.createPlan('leaving', { concurrentRenders: 17 });
    const inForce = async () => (await mirror.read())?.set.plans.get('leaving')?.concurrentRenders;
    await eventually('it is in force', async () => (await inForce()) === 17);
    const accounts = rig.connection.collection<{ _id: string; plan: string }>('accounts');
    await accounts.insertOne({ _id: 'somebody', plan: 'leaving' });
    await api.delete(RENDER_PLANS, named('leaving'));
    assert.equal(await rig.plan('leaving'), undefined);
    const counted = /platen_orphan_plans\{[^}]*plan="leaving"[^}]*\} 1/;
    await eventually('it is reported', async () => counted.test(await controller.metrics()));
    assert.equal(await inForce(), 17);
    await accounts.updateOne({ _id: 'somebody' }, { $set: { plan: 'free' } });
    await eventually('it is in force no more', async () => (await inForce()) === undefined);
    assert.doesNotMatch(await controller.metrics(), /platen_orphan_plans\{[^}]*plan="leaving"/);
  });

  it('keeps the network policy of a pool that was deleted until the last of its workers has ended', async () => {
    await rig.createPool('ending', { minReplicas: 2 });
    await eventually('two', async () => (await rig.deployment('ending'))?.spec.replicas === 2);
    await rig.settle('ending');
    const policy = () => api.get(NETWORK_POLICIES, named('platen-pool-ending'));
    assert.equal((await policy())?.metadata.ownerReferences, undefined);
    await api.delete(RENDER_POOLS, named('ending'));
    // What a garbage collector does, of which this API server has none. A controller that learns of this deletion
    // before that of the pool makes the Deployment again, so it is collected until the end.
    const collect = () => api.delete(DEPLOYMENTS, named('platen-pool-ending'));
    await collect();
    const [first, last] = await rig.pods('ending');
    await api.delete(PODS, first!.metadata, { gracePeriodSeconds: 0 });
    // A second pool is made and deleted after the first: by then the controller has reconciled the first.
    await rig.createPool('marker', { minReplicas: 0 });
    await eventually('the marker is seen', async () => (await rig.deployment('marker')) !== undefined);
    assert.ok(await policy(), 'a worker still renders');
    await api.delete(PODS, last!.metadata, { gracePeriodSeconds: 0 });
    await eventually('it goes', async () => {
      await collect();
      return (await policy()) === undefined;
    });
    await api.delete(RENDER_POOLS, named('marker'));
  });

  it('restores what others change, and makes again what others delete', async () => {
    const ref = named('platen-pool-default');
    // The second time is counted on the event of the first.
    for (const maxUnavailable of [0, 1]) {
      await api.mergePatch(DISRUPTION_BUDGETS, ref, { spec: { maxUnavailable } });
      await eventually('the budget is as it was', async () => {
        return (await api.get(DISRUPTION_BUDGETS, ref))?.spec?.maxUnavailable === '25%';
      });
    }
    const before = (await rig.deployment('default'))?.metadata.uid;
    await api.delete(DEPLOYMENTS, ref);
    await eventually('there is another Deployment', async () => {
      const uid = (await rig.deployment('default'))?.metadata.uid;
      return uid !== undefined && uid !== before;
    });
  });

  it('leaves a Deployment of another owner alone', async () => {
    const labels = { app: 'theirs' };
    await api.create(DEPLOYMENTS, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: named('platen-pool-taken'),
      spec: {
        replicas: 3,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'it', image: 'theirs' }] } },
      },
    });
    await rig.createPool('taken');
    await eventually('reported', async () => (await poolReason('taken', 'WorkersApplied')) === 'NotOurs');
    const theirs = await rig.deployment('taken');
    assert.equal(theirs?.spec.replicas, 3);
    assert.equal(theirs?.metadata.ownerReferences, undefined);
  });

  it('follows spec.replicas in manual mode, and shrinks by empty workers only', async () => {
    await rig.createPool('hand', { mode: 'Manual', replicas: 3, workerYoungSeconds: 0 });
    await eventually('three', async () => (await rig.deployment('hand'))?.spec.replicas === 3);
    await rig.settle('hand');
    const [busy] = await rig.pods('hand');
    await rig.setBusy([busy!.metadata.name]);
    await demandRead();
    await eventually('all ready', async () => (await poolReason('hand', 'Available')) === 'WorkersReady');
    await plane.kubectl('scale', 'rpool/hand', '--replicas=1', '-n', namespace);
    await eventually(
      'one',
      async () => {
        await rig.settle('hand');
        return (await rig.pods('hand')).length === 1;
      },
      75_000,
    ).catch(async (error: Error) => assert.fail(`${error.message}; ${await rig.summary('hand')}`));
    const left = await rig.pods('hand');
    assert.deepEqual(
      left.map(({ metadata }) => metadata.name),
      [busy?.metadata.name],
    );
    assert.doesNotMatch(await controller.metrics(), /platen_wrong_victims_total\{pool="hand"[^}]*\} [1-9]/);
  });

  it("follows the admissible demand of the pool's plans, from nothing and back to nothing", async () => {
    const pool = {
      minReplicas: 0,
      headroomSlots: 0,
      targetUtilisation: 100,
      workerYoungSeconds: 0,
      scaleDown: { stabilisationSeconds: 0, maxPercent: 100, periodSeconds: 1 },
    };
    await rig.createPool('busy', pool);
    await rig.createPlan('acme', { concurrentRenders: 6, poolRef: 'busy' });
    await eventually('reported', async () => (await poolReason('busy', 'Available')) === 'ScaledToZero');
    assert.equal((await rig.deployment('busy'))?.spec.replicas, 0);
    // A hundred jobs wait, and the plan allows six of them to run.
    const accounts = rig.connection.collection<{ _id: string; plan: string }>('accounts');
    const ledgers = rig.connection.collection<{ _id: string; [field: string]: unknown }>('ledgers');
    await accounts.insertOne({ _id: 'acme-1', plan: 'acme' });
    const loaded = { revision: 1, active: true, inFlight: 0, waiting: 100, changedAt: new Date() };
    await ledgers.insertOne({ _id: 'acme-1', ...loaded });
    const replicas = async () => (await rig.deployment('busy'))?.spec.replicas ?? 0;
    await eventually('workers for six jobs', async () => (await replicas()) >= 3);
    await eventually('reported', async () => (await rig.pool('busy')).status?.demandSlots === 6);
    const { wantedReplicas = 0 } = (await rig.pool('busy')).status ?? {};
    assert.ok(wantedReplicas > 0 && wantedReplicas < 6, 'not a worker for each of the hundred');
    await rig.settle('busy');
    await ledgers.updateOne({ _id: 'acme-1' }, { $set: { waiting: 0, changedAt: new Date() } });
    await eventually('none', async () => {
      await rig.settle('busy');
      return (await replicas()) === 0;
    });
    assert.doesNotMatch(await controller.metrics(), /platen_wrong_victims_total\{pool="busy"[^}]*\} [1-9]/);
  });

  it('counts a worker that dies instead of a chosen one', async () => {
    await rig.createPool('wrong', { mode: 'Manual', replicas: 2, workerYoungSeconds: 0 });
    await eventually('two', async () => (await rig.deployment('wrong'))?.spec.replicas === 2);
    await rig.settle('wrong');
    await api.mergePatch(RENDER_POOLS, named('wrong'), { spec: { replicas: 1 } });
    await eventually('one', async () => (await rig.deployment('wrong'))?.spec.replicas === 1);
    await rig.settle('wrong', true);
    const counted = /platen_wrong_victims_total\{pool="wrong"[^}]*\} 1/;
    await eventually('it is counted', async () => counted.test(await controller.metrics()));
  });

  it('scales a pool on whose template the API server refuses', async () => {
    await rig.createPool('mistaken', { minReplicas: 1 });
    await eventually('one', async () => (await rig.deployment('mistaken'))?.spec.replicas === 1);
    const spec = { podLabels: { 'no label!': 'x' }, minReplicas: 3 };
    await api.mergePatch(RENDER_POOLS, named('mistaken'), { spec });
    await eventually('three', async () => (await rig.deployment('mistaken'))?.spec.replicas === 3);
    await eventually('told', async () => (await poolReason('mistaken', 'Ready')) === 'Refused');
  });

  it('yields to a foreign writer of replicas, and names it', async () => {
    const { metadata } = (await rig.deployment('default'))!;
    await api.mergePatch(
      DEPLOYMENTS,
      metadata,
      { spec: { replicas: 4 } },
      { fieldManager: 'some-autoscaler' },
    );
    await eventually(
      'reported',
      async () => (await poolReason('default', 'SoleWriter')) === 'ForeignReplicas',
    );
    const { status } = await rig.pool('default');
    assert.match(findCondition(status?.conditions, 'SoleWriter')?.message ?? '', /some-autoscaler/);
    assert.equal((await rig.deployment('default'))?.spec.replicas, 4);
  });

  it('touches nothing while a pool is paused', async () => {
    await rig.createPool('calm', { paused: true, minReplicas: 1 });
    await eventually('reported', async () => (await poolReason('calm', 'ScalingActive')) === 'Paused');
    const { spec } = (await rig.deployment('calm'))!;
    assert.equal(spec.replicas, 0);
    assert.equal(spec.paused, true);
    await api.mergePatch(RENDER_POOLS, named('calm'), { spec: { paused: false } });
    await eventually('it works again', async () => (await rig.deployment('calm'))?.spec.replicas === 1);
  });

  it('writes nothing when nothing changes', async () => {
    const versions = async () => {
      const objects = await Promise.all([
        api.list(RENDER_POOLS, { namespace }),
        api.list(RENDER_PLANS, { namespace }),
        api.list(DEPLOYMENTS, { namespace }),
        api.list(DISRUPTION_BUDGETS, { namespace }),
        api.list(NETWORK_POLICIES, { namespace }),
      ]);
      return objects.flat().map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);
    };
    const writes = async () =>
      [
        ...(await controller.metrics()).matchAll(
          /platen_kubernetes_calls_total\{method="(PATCH|POST)".*\} (\d+)/g,
        ),
      ]
        .map(([, , count]) => Number(count))
        .reduce((sum, count) => sum + count, 0);
    // Ended workers are unseen after ten seconds, and counts are written within ten more, or later on a busy machine:
    // so the test waits for the quiet. A controller that writes for ever never has ten seconds of it.
    const seen = async () => ({ versions: await versions(), writes: await writes() });
    const quiet = async () => {
      const before = await seen();
      await new Promise((resolve) => setTimeout(resolve, 10_000));
      const after = await seen();
      return isDeepStrictEqual(after, before);
    };
    await eventually('ten seconds without a write', quiet);
  });

  it('needs exactly the rights that the chart gives it', async () => {
    // Remaining counts of events are written when it stops.
    await controller.stop();
    const calls = await callsOf(plane.auditLog, `system:serviceaccount:${namespace}:${ACCOUNT}`);
    const refused = calls.filter(({ code }) => code === 401 || code === 403);
    assert.deepEqual(refused, []);
    // The API server itself has required this, for objects that hold up the deletion of their owner.
    assert.deepEqual(unusedRights(rules, calls), ['update renderpools/finalizers.platen.dev']);
  });
});
