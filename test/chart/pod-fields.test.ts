import assert from 'node:assert/strict';
import { find, HELMS, LEAST, type Manifest, over, render, type Values } from './support/helm.ts';
import { environment, podSpec, podSpecs, workerTemplate } from './support/pods.ts';

const DEPLOYED = ['api', 'dispatcher', 'controller'];
const ROLES = [...DEPLOYED, 'worker'];
const ofAll = (roles: readonly string[], settings: Values): Values =>
  Object.fromEntries(roles.map((role) => [role, settings]));

for (const helm of HELMS) {
  const rendered = (values: Values) => render(helm, over(LEAST, values));

  describe(`fields of pods in the chart, by ${helm}`, () => {
    it('replace a variable, a volume and a mount of the chart by those of the values', async () => {
      const settings = {
        extraEnv: [
          { name: 'PLATEN_LOG_LEVEL', value: 'debug' },
          { name: 'MONGODB_URI', valueFrom: { secretKeyRef: { name: 'vault', key: 'uri' } } },
          { name: 'NODE_EXTRA_CA_CERTS', value: '/etc/own/ca.crt' },
          { name: 'TWICE', value: 'first' },
          { name: 'TWICE', value: 'second' },
        ],
        extraVolumes: [{ name: 'tmp', emptyDir: { sizeLimit: '9Gi' } }],
        extraVolumeMounts: [{ name: 'tmp', mountPath: '/tmp', subPath: 'own' }],
      };
      const manifests = await rendered({ mongodb: { tls: { ca: 'PEM' } }, ...ofAll(ROLES, settings) });
      for (const role of ROLES) {
        // Which also finds that no name is there twice.
        const given = environment(manifests, role);
        assert.deepEqual(
          [given.PLATEN_LOG_LEVEL, given.MONGODB_URI, given.NODE_EXTRA_CA_CERTS, given.TWICE],
          ['debug', 'vault/uri', '/etc/own/ca.crt', 'second'],
          role,
        );
        const { volumes, containers } = podSpec(manifests, role);
        assert.deepEqual(
          volumes.filter(({ name }: { name: string }) => name === 'tmp'),
          settings.extraVolumes,
        );
        assert.deepEqual(
          containers[0].volumeMounts.filter(({ mountPath }: { mountPath: string }) => mountPath === '/tmp'),
          settings.extraVolumeMounts,
        );
        if (role === 'worker') continue;
        const { sources } = volumes.find(({ name }: { name: string }) => name === 'secrets').projected;
        const watched = sources.filter(
          ({ secret }: { secret: { items: { path: string }[] } }) => secret.items[0]!.path === 'MONGODB_URI',
        );
        assert.deepEqual(
          watched.map(({ secret }: { secret: { name: string } }) => secret.name),
          ['vault'],
        );
      }
    });

    it('are taken by each role', async () => {
      const fields = {
        hostUsers: false,
        schedulerName: 'bin-packing',
        hostAliases: [{ ip: '10.0.0.1', hostnames: ['mongo.example'] }],
      };
      const manifests = await rendered(
        ofAll([...ROLES, 'test'], {
          ...fields,
          resources: {
            requests: { cpu: '50m', memory: '256Mi', 'ephemeral-storage': '64Mi' },
            limits: { cpu: 1, memory: '1Gi', 'ephemeral-storage': '3Gi' },
          },
        }),
      );
      const specs = [
        ...ROLES.map((role) => podSpec(manifests, role)),
        find(manifests, 'Pod', 'platen-test-render').spec,
      ];
      for (const spec of specs) {
        for (const [field, value] of Object.entries(fields)) assert.deepEqual(spec[field], value, field);
        const { requests, limits } = spec.containers[0].resources;
        assert.deepEqual([requests['ephemeral-storage'], limits.cpu], ['64Mi', 1]);
      }
      for (const { of, spec } of podSpecs(await rendered({}))) assert.ok(!('hostUsers' in spec), of);
    });

    it('lay times over the probes, and keep the rest', async () => {
      const manifests = await rendered(
        ofAll(ROLES, { startupProbe: { failureThreshold: 900 }, readinessProbe: { periodSeconds: 9 } }),
      );
      for (const role of ROLES) {
        const [container] = podSpec(manifests, role).containers;
        assert.deepEqual(container.startupProbe, {
          httpGet: { path: '/healthz', port: 'ops' },
          periodSeconds: 2,
          timeoutSeconds: 5,
          failureThreshold: 900,
        });
        assert.deepEqual(
          [container.readinessProbe.periodSeconds, container.readinessProbe.httpGet.path],
          [9, '/readyz'],
        );
      }
    });

    it('lay podSpec over what is made', async () => {
      const podSpecValue = {
        shareProcessNamespace: true,
        preemptionPolicy: 'Never',
        securityContext: { sysctls: [{ name: 'net.ipv4.tcp_keepalive_time', value: '60' }] },
      };
      const manifests = await rendered(ofAll(ROLES, { podSpec: podSpecValue }));
      for (const role of ROLES) {
        const spec = podSpec(manifests, role);
        assert.deepEqual([spec.shareProcessNamespace, spec.preemptionPolicy], [true, 'Never']);
        assert.equal(spec.securityContext.runAsUser, 1000);
        assert.equal(spec.securityContext.sysctls.length, 1);
        assert.equal(spec.containers[0].name, role);
      }
    });

    it('belong to Deployments too: annotations, strategy, history', async () => {
      const settings = {
        deploymentAnnotations: { 'reloader.stakater.com/auto': 'true' },
        strategy: { type: 'Recreate' },
        revisionHistoryLimit: 0,
      };
      const manifests = await rendered(ofAll(DEPLOYED, settings));
      for (const role of DEPLOYED) {
        const { metadata, spec } = find(manifests, 'Deployment', `platen-${role}`);
        assert.deepEqual(metadata.annotations, settings.deploymentAnnotations);
        assert.deepEqual([spec.strategy, spec.revisionHistoryLimit], [settings.strategy, 0]);
        assert.deepEqual(spec.template.metadata.annotations['reloader.stakater.com/auto'], undefined);
      }
      const { spec } = find(await rendered({}), 'Deployment', 'platen-api');
      assert.deepEqual(spec.strategy, {
        type: 'RollingUpdate',
        rollingUpdate: { maxUnavailable: 0, maxSurge: 1 },
      });
    });

    it('are handed to the controller for what it makes beside pods', async () => {
      const strategy = { rollingUpdate: { maxSurge: 0, maxUnavailable: '10%' } };
      const annotations = { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::1:role/pdf' };
      const given = await rendered({
        commonLabels: { team: 'print' },
        commonAnnotations: { 'reloader.stakater.com/auto': 'true' },
        worker: { strategy, serviceAccount: { annotations } },
      });
      const template = workerTemplate(given);
      assert.deepEqual(template.common, {
        labels: { team: 'print' },
        annotations: { 'reloader.stakater.com/auto': 'true' },
      });
      assert.deepEqual([template.strategy, template.serviceAccount], [strategy, { annotations }]);
      const named = workerTemplate(await rendered({ worker: { serviceAccount: { name: 'pdf' } } }));
      assert.deepEqual(named.serviceAccount, { name: 'pdf' });
      assert.deepEqual(Object.keys(workerTemplate(await rendered({}))).sort(), ['metadata', 'spec']);
      for (const wrong of [{ type: 'Recreate' }, { rollingUpdate: { maxSurge: 'all' } }, { maxSurge: 1 }]) {
        await assert.rejects(rendered({ worker: { strategy: wrong } }), /worker.*strategy/s);
      }
    });

    it('send every pod to nodes with Linux, or where the values say', async () => {
      const everything = { demo: { enabled: true }, worker: { sandbox: { installProfile: true } } };
      const specs = podSpecs(await rendered(everything));
      assert.equal(specs.length, 8);
      for (const { of, spec } of specs)
        assert.deepEqual(spec.nodeSelector, { 'kubernetes.io/os': 'linux' }, of);
      const manifests = await rendered({
        nodeSelector: { zone: 'a' },
        api: { nodeSelector: { zone: 'b', disk: 'ssd' } },
        demo: { enabled: true, kafka: { nodeSelector: { disk: 'hdd' } } },
      });
      assert.deepEqual(podSpec(manifests, 'worker').nodeSelector, {
        'kubernetes.io/os': 'linux',
        zone: 'a',
      });
      assert.deepEqual(podSpec(manifests, 'api').nodeSelector, {
        'kubernetes.io/os': 'linux',
        zone: 'b',
        disk: 'ssd',
      });
      const kafka = find(manifests, 'StatefulSet', 'platen-demo-kafka').spec.template.spec;
      assert.deepEqual([kafka.nodeSelector.zone, kafka.nodeSelector.disk], ['a', 'hdd']);
    });

    it('name images of the demonstration from the registry of all images', async () => {
      const images = async (values: Values) => {
        const manifests = await rendered(over({ demo: { enabled: true } }, values));
        return ['kafka', 'mongodb'].map(
          (peer) =>
            find(manifests, 'StatefulSet', `platen-demo-${peer}`).spec.template.spec.containers[0].image,
        );
      };
      const global = { imageRegistry: 'mirror.example/hub/' };
      assert.deepEqual(await images({}), ['apache/kafka:4.1.0', 'mongo:8.0']);
      assert.deepEqual(await images({ global }), [
        'mirror.example/hub/apache/kafka:4.1.0',
        'mirror.example/hub/mongo:8.0',
      ]);
      const named = { demo: { kafka: { image: 'quay.io/k:1' }, mongodb: { image: 'localhost:5000/m' } } };
      assert.deepEqual(await images({ global, ...named }), ['quay.io/k:1', 'localhost:5000/m']);
    });

    it('are of the accounts, Service, Ingress, monitors and roles as well', async () => {
      const manifests = await rendered({
        serviceAccount: { annotations: { role: 'a' }, controller: { annotations: { role: 'c' } } },
        worker: { sandbox: { installProfile: true, serviceAccountAnnotations: { role: 's' } } },
        api: {
          service: {
            type: 'LoadBalancer',
            externalTrafficPolicy: 'Local',
            loadBalancerIP: '192.0.2.7',
            loadBalancerSourceRanges: ['192.0.2.0/24'],
          },
        },
        ingress: { enabled: true, labels: { tier: 'edge' }, hosts: [{ host: 'pdf.example.com' }] },
        controller: { watchNamespaces: ['red', 'default', 'blue'] },
        serviceMonitor: {
          enabled: true,
          annotations: { note: 'x' },
          scheme: 'https',
          tlsConfig: { insecureSkipVerify: true },
        },
        rbac: { aggregate: { view: true, edit: true } },
      });
      const roleOf = (name: string) => find(manifests, 'ServiceAccount', name).metadata.annotations?.role;
      assert.deepEqual(['platen', 'platen-controller', 'platen-seccomp-installer'].map(roleOf), [
        ...['a', 'c', 's'],
      ]);
      const { spec } = find(manifests, 'Service', 'platen');
      assert.deepEqual(
        [spec.externalTrafficPolicy, spec.loadBalancerIP, spec.loadBalancerSourceRanges],
        ['Local', '192.0.2.7', ['192.0.2.0/24']],
      );
      assert.equal(find(manifests, 'Ingress', 'platen').metadata.labels?.tier, 'edge');
      const service = find(manifests, 'ServiceMonitor', 'platen');
      const pods = find(manifests, 'PodMonitor', 'platen');
      for (const [monitor, endpoints] of [
        [service, service.spec.endpoints],
        [pods, pods.spec.podMetricsEndpoints],
      ]) {
        assert.equal(monitor.metadata.annotations.note, 'x');
        assert.deepEqual(
          [endpoints[0].scheme, endpoints[0].tlsConfig],
          ['https', { insecureSkipVerify: true }],
        );
        assert.equal(endpoints[0].port, 'ops');
      }
      assert.deepEqual(pods.spec.namespaceSelector.matchNames, ['red', 'blue']);
      assert.equal(pods.spec.selector.matchLabels['app.kubernetes.io/component'], 'worker');
      assertAggregated(manifests);
      assert.ok(!(await rendered({})).some(({ kind }) => /ClusterRole|Monitor/.test(kind)));
    });
  });
}

function assertAggregated(manifests: readonly Manifest[]): void {
  const verbs = (role: string) => {
    const { metadata, rules } = find(manifests, 'ClusterRole', `default-platen-${role}`);
    assert.equal(metadata.labels?.[`rbac.authorization.k8s.io/aggregate-to-${role}`], 'true');
    assert.deepEqual(rules[0].resources, ['renderplans', 'renderpools']);
    return rules[0].verbs as string[];
  };
  assert.deepEqual(verbs('view'), ['get', 'list', 'watch']);
  assert.deepEqual(verbs('edit'), ['create', 'update', 'patch', 'delete', 'deletecollection']);
}
