import assert from 'node:assert/strict';
import { findCondition } from '../../../src/infra/kube/client/conditions.ts';
import type { Kind, KubeObject } from '../../../src/infra/kube/client/kube-object.ts';
import type { KubernetesApi } from '../../../src/infra/kube/client/kubernetes-api.ts';
import { openKubernetesApi } from '../../../src/infra/kube/client/open-kubernetes-api.ts';
import {
  DEPLOYMENTS,
  DISRUPTION_BUDGETS,
  NETWORK_POLICIES,
  RENDER_POOLS,
  type RenderPool,
  SERVICE_ACCOUNTS,
} from '../../../src/kubernetes/resources/kinds.ts';
import { eventually } from '../../support/eventually.ts';
import { type ControlPlane, startControlPlane } from '../../support/kubernetes/control-plane.ts';
import {
  type ControllerProcess,
  startControllerProcess,
  WORKER_TEMPLATE,
} from '../../support/kubernetes/controller-process.ts';
import { CONFIG_MAPS, eventsAbout, makeNamespace } from '../../support/kubernetes/objects.ts';
import { PoolRig } from '../../support/kubernetes/pool-rig.ts';
import { startMongo } from '../../support/mongo.ts';

const ADMISSION = { group: 'admissionregistration.k8s.io', version: 'v1' };
const POLICIES: Kind<KubeObject<{ readonly spec: object }>> = {
  ...ADMISSION,
  plural: 'validatingadmissionpolicies',
  kind: 'ValidatingAdmissionPolicy',
};
const BINDINGS: typeof POLICIES = {
  ...ADMISSION,
  plural: 'validatingadmissionpolicybindings',
  kind: 'ValidatingAdmissionPolicyBinding',
};
const MADE = [SERVICE_ACCOUNTS, NETWORK_POLICIES, DISRUPTION_BUDGETS, DEPLOYMENTS] as readonly Kind[];

/** What a chart adds to the template of a worker. */
const OF_THE_INSTALLATION = `
common:
  labels: { team: print, platen.dev/pool: other, app.kubernetes.io/component: other }
  annotations: { reloader.stakater.com/auto: "true", platen.dev/installation: other }
strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } }
serviceAccount: { annotations: { role: of-all, zone: a } }
metricsFrom: [{ namespaceSelector: { matchLabels: { name: monitoring } } }]
`;

const DEFAULTS = `
- apiVersion: platen.dev/v1alpha1
  kind: RenderPlan
  metadata: { name: gold, labels: { team: print } }
  spec: {}
`;

describe('what the controller makes for a pool, as a company needs it, at a real API server', () => {
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
    await wantLabel();
    const { kubeconfigPath } = plane;
    controller = await startControllerProcess({
      kubeconfigPath,
      mongoUri: uri,
      namespace,
      defaultResources: DEFAULTS,
    });
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

  const named = (name: string) => ({ namespace, name });
  const made = (kind: Kind, pool: string) => api.get(kind, named(`platen-pool-${pool}`));
  const account = (name: string) => ({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { ...named(name), labels: {} as Record<string, string> },
  });
  const applied = async (pool: string) =>
    findCondition((await rig.pool(pool)).status?.conditions, 'WorkersApplied');
  const becomes = (pool: string, reason: string, message = /./) =>
    eventually(`WorkersApplied of ${pool} is ${reason}`, async () => {
      const found = await applied(pool);
      return found?.reason === reason && message.test(found.message);
    }).catch(async (error: Error) => assert.fail(`${error.message}; ${await rig.summary(pool)}`));
  const podOf = async (pool: string) => {
    const template = (await rig.deployment(pool))?.spec.template;
    assert.ok(template, `${pool} has no Deployment`);
    return template;
  };
  const change = (pool: string, spec: object) => api.mergePatch(RENDER_POOLS, named(pool), { spec });
  const refused = (spec: object, why: RegExp) =>
    assert.rejects(rig.createPool('wrong', spec as Partial<RenderPool['spec']>), why);

  /** A policy of the cluster: every object, and every template of a pod, has the label team. */
  const wantLabel = async () => {
    const rule = (apiGroup: string, resource: string) => ({
      apiGroups: [apiGroup],
      apiVersions: ['v1'],
      operations: ['CREATE', 'UPDATE'],
      resources: [resource],
    });
    const isLabelled = (where: string) => `has(${where}.labels) && 'team' in ${where}.labels`;
    const metadata = { name: 'team' };
    await api.create(POLICIES, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: POLICIES.kind,
      metadata,
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [...MADE, CONFIG_MAPS].map(({ group, plural }) => rule(group, plural)),
        },
        validations: [
          { expression: isLabelled('object.metadata'), message: 'every object needs the label team' },
          {
            expression: `object.kind != 'Deployment' || (${isLabelled('object.spec.template.metadata')})`,
            message: 'every pod needs the label team',
          },
        ],
      },
    });
    await api.create(BINDINGS, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: BINDINGS.kind,
      metadata,
      spec: { policyName: 'team', validationActions: ['Deny'] },
    });
    let tries = 0;
    await eventually('the policy is in force', async () => {
      const probe = account(`probe-${tries++}`);
      return api.create(SERVICE_ACCOUNTS, probe).then(
        () => false,
        (error: Error) => error.message.includes('needs the label team'),
      );
    });
  };

  describe('under a policy that wants a label on every object', () => {
    it('is refused without the common labels, and passes with them', async () => {
      await rig.createPool('common', { minReplicas: 1 });
      await becomes('common', 'Refused', /every object needs the label team/);
      assert.equal(await rig.deployment('common'), undefined);
      await controller.setTemplate(WORKER_TEMPLATE + OF_THE_INSTALLATION);
      await becomes('common', 'Applied');
      for (const kind of MADE) {
        const { labels, annotations } = (await made(kind, 'common'))?.metadata ?? {};
        assert.equal(labels?.team, 'print', kind.kind);
        assert.equal(annotations?.['reloader.stakater.com/auto'], 'true', kind.kind);
        // What is the controller's own comes last.
        assert.equal(labels?.['platen.dev/pool'], 'common', kind.kind);
        assert.equal(labels?.['app.kubernetes.io/component'], 'worker', kind.kind);
        assert.match(annotations?.['platen.dev/installation'] ?? '', new RegExp(`^${namespace}/`), kind.kind);
      }
      const { labels, annotations } = (await podOf('common')).metadata ?? {};
      assert.deepEqual([labels?.team, labels?.['platen.dev/pool']], ['print', 'common']);
      assert.equal(annotations?.['reloader.stakater.com/auto'], 'true');
    });

    it('notes which default plans and pools were made', async () => {
      await eventually('noted', async () => {
        const [marker] = await api.list(CONFIG_MAPS, { namespace, labelSelector: 'team=print' });
        return marker?.data?.['RenderPlan.gold'] === 'made';
      });
    });

    it('keeps what Reloader writes to restart workers', async () => {
      const mark = 'reloader.stakater.com/last-reloaded-from';
      const deployment = 'platen-pool-common';
      const template = { metadata: { annotations: { [mark]: 'secret' } } };
      const fieldManager = 'reloader';
      await api.mergePatch(DEPLOYMENTS, named(deployment), { spec: { template } }, { fieldManager });
      await plane.kubectl('set', 'env', `deployment/${deployment}`, 'STAKATER_PLATEN=1f', '-n', namespace);
      await change('common', { podAnnotations: { own: 'x' }, minReplicas: 2 });
      await eventually('two', async () => (await rig.deployment('common'))?.spec.replicas === 2);
      const { metadata, spec } = await podOf('common');
      assert.deepEqual([metadata?.annotations?.[mark], metadata?.annotations?.own], ['secret', 'x']);
      const [worker] = spec.containers as readonly { readonly env: readonly object[] }[];
      assert.deepEqual(
        worker?.env.filter((variable) => JSON.stringify(variable).includes('STAKATER')),
        [{ name: 'STAKATER_PLATEN', value: '1f' }],
      );
      const healed = (await eventsAbout(api, namespace, 'common')).filter(
        ({ reason }) => reason === 'DriftHealed',
      );
      assert.deepEqual(healed, []);
    });
  });

  describe('by the settings of the installation and of the pool', () => {
    it("replaces workers by the installation's strategy, or by the pool's own", async () => {
      const rolling = async (pool: string) => (await rig.deployment(pool))?.spec.strategy?.rollingUpdate;
      assert.deepEqual(await rolling('common'), { maxSurge: 0, maxUnavailable: 1 });
      const strategy = { rollingUpdate: { maxUnavailable: '50%' } };
      await change('common', { strategy });
      await eventually('it has', async () => (await rolling('common'))?.maxUnavailable === '50%');
      assert.deepEqual(await rolling('common'), { maxSurge: '25%', maxUnavailable: '50%' });
      await change('common', { strategy: null });
      await eventually('as before', async () => (await rolling('common'))?.maxUnavailable === 1);
    });

    it('refuses a strategy by which nothing could be replaced', async () => {
      for (const rollingUpdate of [{ maxSurge: 0 }, { maxSurge: '0%', maxUnavailable: '0%' }]) {
        await refused({ strategy: { rollingUpdate } }, /must not both be 0: no worker could be replaced/);
      }
      await refused({ strategy: { rollingUpdate: { maxUnavailable: '101%' } } }, /maxUnavailable.*match/s);
      await refused(
        { strategy: { rollingUpdate: { maxSurge: -1 } } },
        /maxSurge.*greater than or equal to 0/s,
      );
      await refused({ strategy: { type: 'Recreate' } }, /strategy.type.*RollingUpdate/s);
    });

    it("annotates the workers' account, or uses one that is there", async () => {
      const annotations = async (pool: string) =>
        (await made(SERVICE_ACCOUNTS as Kind, pool))?.metadata.annotations ?? {};
      await change('common', { serviceAccountAnnotations: { role: 'own' } });
      await eventually('its own', async () => (await annotations('common')).role === 'own');
      assert.equal((await annotations('common')).zone, 'a');
      assert.equal((await podOf('common')).spec.serviceAccountName, 'platen-pool-common');

      const theirs = account('theirs');
      theirs.metadata.labels.team = 'print';
      await api.create(SERVICE_ACCOUNTS, theirs);
      await rig.createPool('guest', { serviceAccountName: 'theirs' });
      await becomes('guest', 'Applied');
      const { serviceAccountName, automountServiceAccountToken } = (await podOf('guest')).spec;
      assert.deepEqual([serviceAccountName, automountServiceAccountToken], ['theirs', false]);
      assert.equal(await made(SERVICE_ACCOUNTS as Kind, 'guest'), undefined);
      assert.deepEqual((await api.get(SERVICE_ACCOUNTS, named('theirs')))?.metadata.annotations, undefined);
      await refused(
        { serviceAccountName: 'theirs', serviceAccountAnnotations: { role: 'own' } },
        /serviceAccountAnnotations cannot be set with serviceAccountName/,
      );
    });

    it('lets those read the metrics of workers that the installation names', async () => {
      const policy = await api.get(NETWORK_POLICIES, named('platen-pool-common'));
      const [rule, ...others] = (policy?.spec?.ingress ?? []) as readonly { readonly from: object }[];
      assert.deepEqual(rule?.from, [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }]);
      assert.deepEqual(others, []);
      assert.equal(((policy?.spec?.egress ?? []) as readonly object[]).length, 3);
    });
  });

  describe('by fields of its pods', () => {
    const hostAliases = [{ ip: '192.0.2.7', hostnames: ['mongo.example'] }];

    it('has those of the pool', async () => {
      await rig.createPool('fields', {
        minReplicas: 1,
        schedulerName: 'bin-packing',
        hostUsers: false,
        hostAliases,
        podSpec: { shareProcessNamespace: true, dnsConfig: { options: [{ name: 'ndots', value: '1' }] } },
      });
      await becomes('fields', 'Applied');
      const { spec } = await podOf('fields');
      assert.deepEqual(
        [spec.schedulerName, spec.hostUsers, spec.hostAliases],
        ['bin-packing', false, hostAliases],
      );
      assert.equal(spec.shareProcessNamespace, true);
      assert.deepEqual(spec.dnsConfig, { options: [{ name: 'ndots', value: '1' }] });
    });

    for (const [what, podSpec, message] of [
      ['with a typing error', { dnsConfg: {} }, /is refused by the API server: .*dnsConfg/],
      ['with a typing error further down', { dnsConfig: { nameserver: [] } }, /nameserver/],
      ['of the node', { hostNetwork: true }, /podSpec.hostNetwork cannot be set: workers render untrusted/],
      ['that is the controller’s', { containers: [], volumes: [] }, /podSpec.containers.*podSpec.volumes/],
      ['with a field of its own', { hostUsers: true }, /hostUsers cannot be set: set spec.hostUsers instead/],
      ['that is too long', { hostname: 'x'.repeat(20_000) }, /characters as JSON, and 16384 at most/],
      [
        'that is too deep',
        { a: JSON.parse(`${'['.repeat(2000)}${']'.repeat(2000)}`) },
        /more than 1000 values/,
      ],
    ] as const) {
      it(`says what is wrong with a podSpec ${what}, and scales the workers that are there`, async () => {
        const replicas = ((await rig.deployment('fields'))?.spec.replicas ?? 0) + 1;
        await change('fields', { podSpec: null });
        await change('fields', { podSpec, minReplicas: replicas });
        await becomes('fields', 'Refused', message);
        await eventually('scaled', async () => (await rig.deployment('fields'))?.spec.replicas === replicas);
      });
    }

    it('has them again when the mistake is mended', async () => {
      await change('fields', { podSpec: null });
      await change('fields', { podSpec: { hostname: 'w' } });
      await eventually('the host name', async () => (await podOf('fields')).spec.hostname === 'w');
      await becomes('fields', 'Applied');
      const { spec } = await podOf('fields');
      assert.deepEqual([spec.hostname, spec.hostNetwork, spec.hostUsers], ['w', undefined, false]);
    });
  });
});
