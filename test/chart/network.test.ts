import assert from 'node:assert/strict';
import { find, HELMS, LEAST, over, render, type Values } from './support/helm.ts';
import { environment, workerTemplate } from './support/pods.ts';

interface Block {
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

for (const helm of HELMS) {
  const rendered = (values: Values) => render(helm, over(LEAST, values));

  describe(`the network of the chart, by ${helm}`, () => {
    it('separates callers and processes by network policies', async () => {
      const manifests = await rendered({
        networkPolicy: {
          apiFrom: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }],
          blockedNetworks: ['169.254.169.254/32', 'fe80::/10'],
        },
      });
      const api = find(manifests, 'NetworkPolicy', 'platen-api').spec;
      assert.deepEqual(api.ingress[0].from[0], { namespaceSelector: { matchLabels: { name: 'ingress' } } });
      assert.equal(api.ingress[0].from[1].podSelector.matchLabels['app.kubernetes.io/component'], 'test');
      assert.deepEqual(
        api.egress[1].to.slice(1).map(({ ipBlock }: { ipBlock: object }) => ipBlock),
        [
          { cidr: '0.0.0.0/0', except: ['169.254.169.254/32'] },
          { cidr: '::/0', except: ['fe80::/10'] },
        ],
      );
      for (const role of ['dispatcher', 'controller']) {
        const { ingress } = find(manifests, 'NetworkPolicy', `platen-${role}`).spec;
        assert.deepEqual(
          ingress.map(({ ports }: { ports: object[] }) => ports),
          [[{ port: 'ops', protocol: 'TCP' }]],
        );
      }
      assert.deepEqual(find(manifests, 'NetworkPolicy', 'platen-controller').spec.policyTypes, ['Ingress']);
      assert.equal(
        environment(manifests, 'controller').PLATEN_WORKER_BLOCKED_NETWORKS,
        '169.254.169.254/32,fe80::/10',
      );
      const given = await rendered({ networkPolicy: { apiServerNetworks: ['192.0.2.0/28'] } });
      assert.equal(
        environment(given, 'controller').PLATEN_WORKER_BLOCKED_NETWORKS,
        '169.254.0.0/16,fe80::/10,fd00:ec2::/32,fd20:ce::254/128,fd00:c1::a9fe:a9fe/128,192.0.2.0/28',
      );
      const without = await rendered({ networkPolicy: { enabled: false } });
      assert.ok(!without.some(({ kind }) => kind === 'NetworkPolicy'));
      assert.equal(environment(without, 'controller').PLATEN_WORKER_NETWORK_POLICIES, 'off');
    });

    it('lets those read metrics that are named, of workers too', async () => {
      const metricsFrom = [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }];
      const manifests = await rendered({ networkPolicy: { metricsFrom } });
      for (const role of ['api', 'dispatcher', 'controller']) {
        const { ingress } = find(manifests, 'NetworkPolicy', `platen-${role}`).spec;
        assert.deepEqual(ingress.at(-1).from, metricsFrom, role);
      }
      // The API fetches PDFs there.
      const [monitoring, api, ...rest] = workerTemplate(manifests).metricsFrom;
      assert.deepEqual([monitoring, ...rest], metricsFrom);
      const pods = find(manifests, 'Deployment', 'platen-api');
      assert.deepEqual(api.podSelector.matchLabels, pods.spec.selector.matchLabels);
      assert.deepEqual(Object.values(api.namespaceSelector.matchLabels), [pods.metadata.namespace]);
      assert.ok(!('metricsFrom' in workerTemplate(await rendered({}))));
    });

    it('has each rule for IPv4 also for IPv6, and dual-stack Services', async () => {
      const manifests = await rendered({ serviceMonitor: { enabled: true }, demo: { enabled: true } });
      const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
      assert.ok(policies.length >= 5);
      for (const { metadata, spec } of policies) {
        const blocks = [...(spec.ingress ?? []), ...(spec.egress ?? [])].flatMap(
          (rule: { from?: Block[]; to?: Block[] }) => [...(rule.from ?? []), ...(rule.to ?? [])],
        );
        const families = blocks.flatMap(({ ipBlock }: Block) => ipBlock?.cidr.includes(':') ?? []);
        const counted = (isV6: boolean) => families.filter((family) => family === isV6).length;
        assert.equal(counted(true), counted(false), metadata.name);
      }
      for (const role of ['api', 'dispatcher']) {
        const { egress } = find(manifests, 'NetworkPolicy', `platen-${role}`).spec;
        const excepted = egress.flatMap(({ to = [] }: { to?: Block[] }) =>
          to.flatMap(({ ipBlock }) => ipBlock?.except ?? []),
        );
        for (const metadata of ['169.254.0.0/16', 'fd00:ec2::/32', 'fd20:ce::254/128'])
          assert.ok(excepted.includes(metadata), metadata);
      }
      const services = manifests.filter(({ kind }) => kind === 'Service');
      assert.ok(services.length >= 4);
      for (const { metadata, spec } of services)
        assert.equal(spec.ipFamilyPolicy, 'PreferDualStack', metadata.name);
      const reported = await rendered({
        api: { service: { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv6'] } },
      });
      const { spec } = find(reported, 'Service', 'platen');
      assert.deepEqual([spec.ipFamilyPolicy, spec.ipFamilies], ['SingleStack', ['IPv6']]);
    });
  });
}
