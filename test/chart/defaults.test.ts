import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { DEFAULT_PLANS } from '../../src/tenants/plans/plan.ts';
import { find, HELMS, LEAST, type Manifest, nameOf, over, render } from './support/helm.ts';
import { defaultResources, environment, podSpec, podSpecs, workerTemplate } from './support/pods.ts';

const ROLES = ['api', 'dispatcher', 'controller', 'worker'];

for (const helm of HELMS) {
  describe(`the chart with the least values, by ${helm}`, () => {
    let manifests: Manifest[];
    before(async () => {
      manifests = await render(helm, LEAST);
    });

    it('has all objects of an installation, and outside its namespace only the definitions', () => {
      const beyond = manifests.filter(({ metadata }) => metadata.namespace !== 'default').map(nameOf);
      assert.deepEqual(beyond.sort(), [
        'CustomResourceDefinition/renderplans.platen.dev',
        'CustomResourceDefinition/renderpools.platen.dev',
      ]);
      for (const name of ['api', 'dispatcher', 'controller']) {
        for (const kind of ['Deployment', 'PodDisruptionBudget', 'NetworkPolicy']) {
          find(manifests, kind, `platen-${name}`);
        }
      }
      assert.deepEqual(
        manifests
          .filter(({ kind }) => /^(Cluster|StatefulSet|DaemonSet|Ingress|HTTPRoute|Service)/.test(kind))
          .map(nameOf)
          .sort(),
        ['Service/platen', 'ServiceAccount/platen', 'ServiceAccount/platen-controller'],
      );
    });

    it('leaves the workers to the controller', () => {
      const workers = manifests.filter(
        ({ kind, metadata }) =>
          kind === 'Deployment' && metadata.labels?.['app.kubernetes.io/component'] === 'worker',
      );
      assert.deepEqual(workers, []);
    });

    it('renders no field that kubectl scale or the controller changes', () => {
      for (const { kind, spec, metadata } of manifests) {
        if (kind === 'Deployment') assert.ok(!('replicas' in spec), metadata.name);
      }
    });

    it('gives every pod the least rights that it can work with', () => {
      const pods = podSpecs(manifests);
      assert.equal(pods.length, ROLES.length + 1);
      for (const { of, spec } of pods) {
        assert.equal(spec.securityContext.runAsNonRoot, true, of);
        assert.equal(spec.securityContext.seccompProfile.type, 'RuntimeDefault', of);
        assert.equal(spec.enableServiceLinks, false, of);
        for (const key of ['hostNetwork', 'hostPID', 'hostIPC']) assert.ok(!(key in spec), of);
        for (const container of spec.containers) {
          assert.deepEqual(
            container.securityContext,
            {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            },
            of,
          );
          assert.ok(container.resources.requests.memory && container.resources.limits.memory, of);
          assert.ok(
            container.volumeMounts.some(({ mountPath }: { mountPath: string }) => mountPath === '/tmp'),
            of,
          );
        }
      }
    });

    it('gives the token of a service account to the controller alone', () => {
      for (const { of, spec } of podSpecs(manifests)) {
        const isController = of === 'Deployment/platen-controller';
        assert.equal(
          spec.automountServiceAccountToken ?? (of === 'worker' ? false : undefined),
          isController,
          of,
        );
      }
    });

    it('gives each role its part of the configuration, and Secrets by reference where they are needed', () => {
      for (const role of ROLES) {
        const found = environment(manifests, role);
        assert.equal(found.MONGODB_URI, 'platen-mongodb/uri', role);
        assert.equal(found.PLATEN_OPS_PORT, '9090', role);
        assert.equal(found.KAFKA_BROKERS, role === 'controller' ? undefined : 'kafka.example:9092', role);
        assert.equal(found.PLATEN_SECRET, role === 'api' ? 'platen-secret/secret' : undefined, role);
      }
      const { PLATEN_WORKER_TEMPLATE_FILE: template, PLATEN_DEFAULT_RESOURCES_FILE: defaults } = environment(
        manifests,
        'controller',
      );
      const { volumeMounts } = podSpec(manifests, 'controller').containers[0];
      const folder = volumeMounts.find(({ name }: { name: string }) => name === 'controller').mountPath;
      assert.deepEqual(
        [template, defaults],
        [`${folder}/worker-template.yaml`, `${folder}/default-resources.yaml`],
      );
    });

    it('checks health on the operations port, and waits before it kills', () => {
      for (const role of ROLES) {
        const [container] = podSpec(manifests, role).containers;
        assert.ok(
          container.ports.some(
            ({ name, containerPort }: { name: string; containerPort: number }) =>
              name === 'ops' && containerPort === 9090,
          ),
        );
        assert.deepEqual(container.readinessProbe.httpGet, { path: '/readyz', port: 'ops' });
        assert.deepEqual(container.livenessProbe.httpGet, { path: '/healthz', port: 'ops' });
        assert.deepEqual(container.startupProbe.httpGet, { path: '/healthz', port: 'ops' });
        assert.ok(container.livenessProbe.timeoutSeconds >= 5);
      }
    });

    it('exposes the API through a Service on port 80, and lets it finish when a pod is replaced', () => {
      const service = find(manifests, 'Service', 'platen');
      assert.deepEqual(
        service.spec.ports.map(({ port, targetPort }: { port: number; targetPort: string }) => [
          port,
          targetPort,
        ]),
        [[80, 'http']],
      );
      const deployment = find(manifests, 'Deployment', 'platen-api');
      for (const [label, value] of Object.entries(service.spec.selector)) {
        assert.equal(deployment.spec.template.metadata.labels[label], value);
        assert.equal(deployment.spec.selector.matchLabels[label], value);
      }
      assert.deepEqual(deployment.spec.strategy.rollingUpdate, { maxUnavailable: 0, maxSurge: 1 });
      const { terminationGracePeriodSeconds, containers } = deployment.spec.template.spec;
      assert.deepEqual(containers[0].lifecycle.preStop.exec.command, ['sleep', '5']);
      assert.ok(terminationGracePeriodSeconds >= 5 + 25 + 20);
    });

    it('lets one pod of a role be drained at a time, and a broken one always', () => {
      for (const role of ['api', 'dispatcher', 'controller']) {
        const { spec } = find(manifests, 'PodDisruptionBudget', `platen-${role}`);
        assert.deepEqual([spec.maxUnavailable, spec.minAvailable], [1, undefined]);
        assert.equal(spec.unhealthyPodEvictionPolicy, 'AlwaysAllow');
        assert.deepEqual(spec.selector, find(manifests, 'Deployment', `platen-${role}`).spec.selector);
      }
    });

    it('spreads the pods of a role over zones and nodes', () => {
      for (const role of ['api', 'dispatcher', 'controller']) {
        const { template, selector } = find(manifests, 'Deployment', `platen-${role}`).spec;
        const constraints = template.spec.topologySpreadConstraints;
        assert.deepEqual(
          constraints.map(({ topologyKey }: { topologyKey: string }) => topologyKey),
          ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'],
        );
        for (const { labelSelector } of constraints) assert.deepEqual(labelSelector, selector);
        // Where nodes have no zone, the scheduler ignores both.
        const { podAntiAffinity } = template.spec.affinity;
        const [{ podAffinityTerm }] = podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution;
        assert.equal(podAffinityTerm.topologyKey, 'kubernetes.io/hostname');
        assert.deepEqual(podAffinityTerm.labelSelector, selector);
      }
    });

    it('lets the controller do its work in its own namespace and nowhere else', () => {
      assert.deepEqual(
        manifests.filter(({ kind }) => kind.startsWith('ClusterRole')),
        [],
      );
      const { rules } = find(manifests, 'Role', 'platen-controller');
      const may = (group: string, resource: string): string[] =>
        rules
          .filter(
            ({ apiGroups, resources }: { apiGroups: string[]; resources: string[] }) =>
              apiGroups.includes(group) && resources.includes(resource),
          )
          .flatMap(({ verbs }: { verbs: string[] }) => verbs);
      assert.deepEqual(may('', 'pods').sort(), ['list', 'patch', 'watch']);
      // To make the Secret that signs links; not where that is given.
      assert.deepEqual(may('', 'secrets'), ['create']);
      for (const { apiGroups, resources, verbs } of rules) {
        assert.ok(![...apiGroups, ...resources, ...verbs].includes('*'));
        // A network policy outlives its pool; all else goes with it.
        assert.equal(verbs.includes('delete'), resources.join() === 'networkpolicies', resources.join());
      }
      const binding = find(manifests, 'RoleBinding', 'platen-controller');
      assert.deepEqual(binding.subjects[0].name, podSpec(manifests, 'controller').serviceAccountName);
    });

    it('has the built-in plans and a pool made at the first start', () => {
      const resources = defaultResources(manifests);
      const named = (kind: string) => resources.filter((resource) => resource.kind === kind);
      assert.deepEqual(
        named('RenderPlan')
          .map(({ metadata, spec }) => [metadata.name, spec])
          .sort(),
        Object.keys(DEFAULT_PLANS)
          .map((name) => [name, {}])
          .sort(),
      );
      assert.deepEqual(
        named('RenderPool').map(({ metadata }) => metadata.name),
        ['default'],
      );
      // Argo CD, where it tracks by this label, would prune what is not in Git.
      const secret = parse(find(manifests, 'ConfigMap', 'platen-controller').data['link-secret.yaml']);
      for (const { metadata } of [...resources, secret]) {
        assert.equal(metadata.labels['app.kubernetes.io/name'], 'platen');
        assert.equal(metadata.labels['app.kubernetes.io/instance'], undefined);
      }
    });

    it('names in the worker template the fields that the controller reads', () => {
      const { metadata, spec } = workerTemplate(manifests);
      assert.equal(metadata.labels?.['app.kubernetes.io/component'], 'worker');
      assert.equal(metadata.labels?.['app.kubernetes.io/instance'], 'platen');
      assert.deepEqual(
        spec.containers.map(({ name }: { name: string }) => name),
        ['worker'],
      );
      assert.deepEqual(spec.containers[0].args, ['worker']);
    });

    it('keeps the definitions when it is uninstalled, and omits them on request', async () => {
      for (const { kind, metadata } of manifests) {
        if (kind === 'CustomResourceDefinition')
          assert.equal(metadata.annotations?.['helm.sh/resource-policy'], 'keep');
      }
      const without = await render(helm, over(LEAST, { crds: { enabled: false } }));
      assert.ok(!without.some(({ kind }) => kind === 'CustomResourceDefinition'));
    });

    it("does not restart pods when only the chart's version changes", () => {
      for (const { metadata } of [
        find(manifests, 'Deployment', 'platen-api').spec.template,
        workerTemplate(manifests),
      ]) {
        assert.ok(!('helm.sh/chart' in metadata.labels));
      }
    });
  });
}

describe('the two Helms', () => {
  it('render the same', async () => {
    const [three, four] = await Promise.all(HELMS.map((helm) => render(helm, LEAST)));
    const sorted = (manifests: Manifest[]) =>
      manifests.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
    assert.deepEqual(sorted(three!), sorted(four!));
  });

  it('render the same each time, so that rendering without a cluster changes no key', async () => {
    for (const helm of HELMS) {
      const [once, again] = await Promise.all([render(helm, LEAST), render(helm, LEAST)]);
      assert.deepEqual(once, again);
      assert.ok(!once.some(({ kind, metadata }) => kind === 'Secret' && metadata.name === 'platen-secret'));
      assert.equal(environment(once, 'api').PLATEN_SECRET, 'platen-secret/secret');
      const given = await render(helm, over(LEAST, { secret: { existingSecret: { name: 'links' } } }));
      const { rules } = find(given, 'Role', 'platen-controller');
      assert.ok(!JSON.stringify(rules).includes('secrets'));
      assert.equal(environment(given, 'controller').PLATEN_LINK_SECRET_FILE, undefined);
    }
  });
});
