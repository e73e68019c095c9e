import assert from 'node:assert/strict';
import { find, HELMS, LEAST, type Manifest, over, render, type Values } from './support/helm.ts';
import { defaultResources, environment, podSpec, podSpecs, workerTemplate } from './support/pods.ts';

interface SecretFile {
  readonly secret: { readonly name: string; readonly items: readonly { key: string; path: string }[] };
}

/** Of a role's values, what its pods have under the same name. */
const TAKEN_AS_THEY_ARE = [
  ...(['tolerations', 'affinity', 'priorityClassName'] as const),
  ...(['dnsPolicy', 'dnsConfig', 'initContainers'] as const),
];

const JOB_ROLES = ['api', 'dispatcher', 'worker'];

for (const helm of HELMS) {
  const rendered = (values: Values) => render(helm, over(LEAST, values));
  const decoded = (manifests: Manifest[], name: string) =>
    Object.fromEntries(
      Object.entries(find(manifests, 'Secret', name).data as Record<string, string>).map(([key, value]) => [
        key,
        Buffer.from(value, 'base64').toString(),
      ]),
    );

  describe(`the options of the chart, by ${helm}`, () => {
    it('keep values that are given directly in Secrets of the chart', async () => {
      const manifests = await rendered({
        mongodb: { tls: { ca: 'MONGO CA' } },
        kafka: {
          brokers: 'a:9093,b:9093',
          tls: { enabled: true, ca: 'KAFKA CA' },
          sasl: { mechanism: 'scram-sha-512', username: 'platen', password: 'pass' },
        },
        secret: { value: 'a secret of thirty-two characters' },
        bootstrap: { email: 'a@example.com', password: 'correct horse', apiKey: `sk_live_${'k'.repeat(32)}` },
      });
      assert.deepEqual(decoded(manifests, 'platen-mongodb'), {
        uri: 'mongodb://mongo.example/platen',
        'ca.crt': 'MONGO CA',
      });
      assert.deepEqual(decoded(manifests, 'platen-kafka'), { password: 'pass', 'ca.crt': 'KAFKA CA' });
      assert.deepEqual(decoded(manifests, 'platen-secret'), { secret: 'a secret of thirty-two characters' });
      assert.deepEqual(decoded(manifests, 'platen-bootstrap'), {
        password: 'correct horse',
        'api-key': `sk_live_${'k'.repeat(32)}`,
      });
      for (const role of JOB_ROLES) {
        const found = environment(manifests, role);
        assert.equal(found.KAFKA_BROKERS, 'a:9093,b:9093');
        assert.equal(found.KAFKA_SASL_MECHANISM, 'scram-sha-512');
        assert.equal(found.KAFKA_SASL_USERNAME, 'platen');
        assert.equal(found.KAFKA_SASL_PASSWORD, 'platen-kafka/password');
        assert.equal(
          found.PLATEN_BOOTSTRAP_PASSWORD,
          role === 'api' ? 'platen-bootstrap/password' : undefined,
        );
        assertMounted(podSpec(manifests, role), found.KAFKA_SSL_CA!, 'platen-kafka', 'ca.crt');
        assertMounted(podSpec(manifests, role), found.NODE_EXTRA_CA_CERTS!, 'platen-mongodb', 'ca.crt');
      }
      const elsewhere = JSON.stringify(manifests.filter(({ kind }) => kind !== 'Secret'));
      for (const secret of ['correct horse', 'mongo.example', 'KAFKA CA', 'sk_live_', 'thirty-two']) {
        assert.ok(!elsewhere.includes(secret), secret);
      }
    });

    it('use existing Secrets, and make none then', async () => {
      const manifests = await rendered({
        mongodb: {
          uri: '',
          existingSecret: { name: 'db', key: 'connection' },
          tls: {
            existingSecret: { name: 'db-ca', key: 'tls.crt' },
            clientCertificate: { existingSecret: { name: 'db-client' } },
          },
        },
        kafka: {
          tls: {
            enabled: true,
            existingSecret: { name: 'cluster-ca', key: 'ca.crt' },
            clientCertificate: {
              existingSecret: { name: 'kafka-user', certKey: 'user.crt', keyKey: 'user.key' },
            },
          },
          sasl: {
            mechanism: 'scram-sha-512',
            existingSecret: { name: 'kafka-user', usernameKey: 'user', passwordKey: 'password' },
          },
        },
        secret: { existingSecret: { name: 'signing', key: 'hmac', previousKey: 'hmac-before' } },
        bootstrap: {
          email: 'a@example.com',
          existingSecret: { name: 'first', passwordKey: 'pw', apiKeyKey: 'key' },
        },
      });
      assert.ok(!manifests.some(({ kind }) => kind === 'Secret'));
      const api = environment(manifests, 'api');
      assert.equal(api.MONGODB_URI, 'db/connection');
      assert.equal(api.KAFKA_SASL_USERNAME, 'kafka-user/user');
      assert.equal(api.KAFKA_SASL_PASSWORD, 'kafka-user/password');
      assert.equal(api.PLATEN_SECRET, 'signing/hmac');
      assert.equal(api.PLATEN_SECRET_PREVIOUS, 'signing/hmac-before');
      assert.equal(environment(manifests, 'worker').PLATEN_SECRET_PREVIOUS, undefined);
      assert.equal(api.PLATEN_BOOTSTRAP_PASSWORD, 'first/pw');
      assert.equal(api.PLATEN_BOOTSTRAP_API_KEY, 'first/key');
      assertMounted(podSpec(manifests, 'worker'), api.KAFKA_SSL_CA!, 'cluster-ca', 'ca.crt');
      for (const role of JOB_ROLES) {
        const [given, pod] = [environment(manifests, role), podSpec(manifests, role)];
        assertMounted(pod, given.KAFKA_SSL_CERT!, 'kafka-user', 'user.crt');
        assertMounted(pod, given.KAFKA_SSL_KEY!, 'kafka-user', 'user.key');
      }
      for (const role of [...JOB_ROLES, 'controller']) {
        const [given, pod] = [environment(manifests, role), podSpec(manifests, role)];
        assertMounted(pod, given.MONGODB_TLS_CERT!, 'db-client', 'tls.crt');
        assertMounted(pod, given.MONGODB_TLS_KEY!, 'db-client', 'tls.key');
      }
      assertMounted(
        podSpec(manifests, 'controller'),
        environment(manifests, 'controller').NODE_EXTRA_CA_CERTS!,
        'db-ca',
        'tls.crt',
      );
    });

    it('mount the Secrets of each role but the workers as files too, which shows when they are rotated', async () => {
      const manifests = await rendered({
        kafka: { sasl: { mechanism: 'plain', username: 'u', existingSecret: { name: 'kafka-user' } } },
        secret: { existingSecret: { name: 'signing', key: 'hmac' } },
      });
      for (const role of [...JOB_ROLES, 'controller']) {
        const { volumes, containers } = podSpec(manifests, role);
        const { sources } = (volumes as { name: string; projected?: { sources: SecretFile[] } }[]).find(
          ({ name }) => name === 'secrets',
        )?.projected ?? { sources: [] };
        const files = Object.fromEntries(
          sources.flatMap(({ secret: { name, items } }) =>
            items.map(({ key, path }) => [path, `${name}/${key}`]),
          ),
        );
        const variables = environment(manifests, role);
        const secrets = Object.entries(variables).filter(([, from]) =>
          /^(platen-mongodb|kafka-user|signing)\//.test(from),
        );
        // What breaks out of a browser could read them.
        if (role === 'worker') {
          assert.deepEqual([files, variables.PLATEN_SECRETS_DIR], [{}, undefined]);
          continue;
        }
        assert.deepEqual(files, Object.fromEntries(secrets), role);
        const mount = containers[0].volumeMounts.find(({ name }: { name: string }) => name === 'secrets');
        assert.deepEqual([mount.mountPath, mount.readOnly], [variables.PLATEN_SECRETS_DIR, true]);
      }
    });

    it('take the image from a configured registry, by digest if one is given', async () => {
      const digest = `sha256:${'0'.repeat(64)}`;
      const manifests = await rendered({
        global: { imagePullSecrets: [{ name: 'shared' }] },
        image: {
          registry: 'r.example/',
          repository: 'team/platen',
          tag: 'ignored',
          digest,
          pullSecrets: ['mine'],
        },
      });
      for (const { of, spec } of podSpecs(manifests)) {
        assert.equal(spec.containers[0].image, `r.example/team/platen@${digest}`, of);
        assert.deepEqual(spec.imagePullSecrets, [{ name: 'mine' }, { name: 'shared' }], of);
      }
      const [api] = podSpec(
        await rendered({ global: { imageRegistry: 'g.example' }, image: { tag: 'v9' } }),
        'api',
      ).containers;
      assert.equal(api.image, 'g.example/platen:v9');
    });

    it('take placement, labels, variables and volumes for each role', async () => {
      const settings = {
        podLabels: { team: 'print' },
        podAnnotations: { note: 'x' },
        tolerations: [{ key: 'k', operator: 'Exists' }],
        affinity: { nodeAffinity: {} },
        priorityClassName: 'high',
        dnsPolicy: 'None',
        dnsConfig: { nameservers: ['10.0.0.10', 'fd00::10'] },
        initContainers: [{ name: 'mesh', image: 'proxy', restartPolicy: 'Always' }],
        podSecurityContext: { runAsNonRoot: true, supplementalGroups: [7] },
        containerSecurityContext: { allowPrivilegeEscalation: false },
        topologySpreadConstraints: [],
        extraEnv: [{ name: 'TZ', value: 'UTC' }],
        extraEnvFrom: [{ configMapRef: { name: 'more' } }],
        extraVolumes: [{ name: 'v', emptyDir: {} }],
        extraVolumeMounts: [{ name: 'v', mountPath: '/v' }],
      };
      const manifests = await rendered({
        api: settings,
        dispatcher: settings,
        controller: settings,
        worker: settings,
        commonLabels: { cost: 'c1' },
        commonAnnotations: { all: 'y' },
      });
      const templates = [
        ...['api', 'dispatcher', 'controller'].map(
          (role) => find(manifests, 'Deployment', `platen-${role}`).spec.template,
        ),
        workerTemplate(manifests),
      ];
      const { common } = workerTemplate(manifests);
      assert.deepEqual(common, { labels: { cost: 'c1' }, annotations: { all: 'y' } });
      for (const { metadata, spec } of templates) {
        assert.deepEqual([metadata.labels.team, metadata.labels.cost], ['print', 'c1']);
        assert.deepEqual([metadata.annotations.note, metadata.annotations.all], ['x', 'y']);
        for (const key of TAKEN_AS_THEY_ARE) assert.deepEqual(spec[key], settings[key], key);
        assert.deepEqual(spec.securityContext, settings.podSecurityContext);
        assert.deepEqual(spec.containers[0].securityContext, settings.containerSecurityContext);
        assert.ok(!(spec.topologySpreadConstraints?.length > 0));
        const [container] = spec.containers;
        assert.ok(container.env.some(({ name }: { name: string }) => name === 'TZ'));
        assert.deepEqual(container.envFrom, settings.extraEnvFrom);
        assert.ok(spec.volumes.some(({ name }: { name: string }) => name === 'v'));
        assert.ok(container.volumeMounts.some(({ mountPath }: { mountPath: string }) => mountPath === '/v'));
      }
      for (const { metadata } of manifests.filter(({ kind }) => kind !== 'CustomResourceDefinition')) {
        assert.deepEqual([metadata.labels?.cost, metadata.annotations?.all], ['c1', 'y'], metadata.name);
      }
    });

    it('set the replicas of a role only on request', async () => {
      const fixed = await rendered({
        api: { replicas: 3 },
        dispatcher: { replicas: 0 },
        controller: { replicas: 2 },
      });
      const replicas = (manifests: Manifest[], role: string) =>
        find(manifests, 'Deployment', `platen-${role}`).spec.replicas;
      assert.deepEqual(
        [3, 0, 2],
        ['api', 'dispatcher', 'controller'].map((role) => replicas(fixed, role)),
      );
      const scaled = await rendered({
        api: {
          replicas: 3,
          autoscaling: { enabled: true, behavior: { scaleDown: { stabilizationWindowSeconds: 9 } } },
        },
      });
      assert.equal(replicas(scaled, 'api'), undefined);
      const { spec } = find(scaled, 'HorizontalPodAutoscaler', 'platen-api');
      assert.deepEqual([spec.scaleTargetRef.name, spec.minReplicas, spec.maxReplicas], ['platen-api', 2, 10]);
      assert.equal(spec.behavior.scaleDown.stabilizationWindowSeconds, 9);
    });

    it('open the API by an Ingress and by an HTTPRoute', async () => {
      const manifests = await rendered({
        ingress: {
          enabled: true,
          className: 'nginx',
          annotations: { a: 'b' },
          hosts: [{ host: 'pdf.example.com' }],
          tls: [{ secretName: 't', hosts: ['pdf.example.com'] }],
        },
        httpRoute: {
          enabled: true,
          parentRefs: [{ name: 'gw', namespace: 'infra' }],
          hostnames: ['pdf.example.com'],
          timeouts: { request: '60s' },
        },
        api: { service: { port: 8000 } },
      });
      const ingress = find(manifests, 'Ingress', 'platen');
      assert.equal(ingress.spec.ingressClassName, 'nginx');
      assert.deepEqual(ingress.spec.rules[0].http.paths, [
        { path: '/', pathType: 'Prefix', backend: { service: { name: 'platen', port: { name: 'http' } } } },
      ]);
      const route = find(manifests, 'HTTPRoute', 'platen');
      assert.deepEqual(route.spec.parentRefs, [{ name: 'gw', namespace: 'infra' }]);
      assert.deepEqual(route.spec.rules[0].backendRefs, [{ name: 'platen', port: 8000 }]);
      assert.equal(route.spec.rules[0].timeouts.request, '60s');
    });

    it('have every process scraped, including the workers, on request', async () => {
      const manifests = await rendered({
        serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
      });
      const service = find(manifests, 'Service', 'platen-metrics');
      assert.deepEqual([service.spec.clusterIP, service.spec.publishNotReadyAddresses], ['None', true]);
      for (const labels of [
        find(manifests, 'Deployment', 'platen-controller').spec.template.metadata.labels,
        workerTemplate(manifests).metadata.labels!,
      ]) {
        for (const [label, value] of Object.entries(service.spec.selector))
          assert.equal(labels[label], value);
      }
      const monitor = find(manifests, 'ServiceMonitor', 'platen');
      for (const [label, value] of Object.entries(monitor.spec.selector.matchLabels))
        assert.equal(service.metadata.labels?.[label], value);
      assert.equal(monitor.metadata.labels?.release, 'prometheus');
      assert.equal(monitor.spec.endpoints[0].port, service.spec.ports[0].name);
    });

    it('give the controller a Role in every namespace that it manages', async () => {
      const manifests = await rendered({ controller: { watchNamespaces: ['red', 'blue'] } });
      const roles = manifests.filter(({ kind }) => kind === 'Role');
      const resources = (namespace: string) =>
        roles
          .find(({ metadata }) => metadata.namespace === namespace)
          ?.rules.flatMap((rule: { resources: string[] }) => rule.resources);
      for (const namespace of ['red', 'blue']) {
        assert.ok(resources(namespace).includes('renderpools') && !resources(namespace).includes('leases'));
      }
      assert.ok(resources('default').includes('leases') && !resources('default').includes('pods'));
      assert.equal(environment(manifests, 'controller').PLATEN_WATCH_NAMESPACES, 'red,blue');
      // In a managed namespace: that of the release is not on the list.
      const made = new Set(defaultResources(manifests).map(({ metadata }) => metadata.namespace));
      assert.deepEqual(made, new Set(['red']));
      for (const { subjects } of manifests.filter(({ kind }) => kind === 'RoleBinding')) {
        assert.deepEqual(subjects, [
          { kind: 'ServiceAccount', name: 'platen-controller', namespace: 'default' },
        ]);
      }
    });

    it('take large numbers and additional objects', async () => {
      const manifests = await rendered({
        config: { maxLiveJobs: 2_000_000, syncWaitMs: 0 },
        extraObjects: [
          { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a-{{ .Release.Name }}' } },
          'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ include "platen.fullname" . }}-b\n',
        ],
      });
      const { PLATEN_MAX_LIVE_JOBS, PLATEN_SYNC_WAIT_MS } = environment(manifests, 'api');
      assert.deepEqual([PLATEN_MAX_LIVE_JOBS, PLATEN_SYNC_WAIT_MS], ['2000000', '0']);
      find(manifests, 'ConfigMap', 'a-platen');
      find(manifests, 'ConfigMap', 'platen-b');
    });

    it('bring servers for a demonstration, which only this release can reach', async () => {
      const manifests = await render(helm, { demo: { enabled: true } });
      const kafka = find(manifests, 'StatefulSet', 'platen-demo-kafka');
      const mongodb = find(manifests, 'StatefulSet', 'platen-demo-mongodb');
      assert.match(kafka.spec.template.spec.containers[0].image, /^apache\/kafka:/);
      assert.match(mongodb.spec.template.spec.containers[0].image, /^mongo:/);
      assert.deepEqual(decoded(manifests, 'platen-mongodb'), {
        uri: 'mongodb://platen-demo-mongodb:27017/platen',
      });
      assert.equal(environment(manifests, 'worker').KAFKA_BROKERS, 'platen-demo-kafka:9092');
      for (const { spec } of [kafka, mongodb]) {
        assert.equal(spec.template.spec.securityContext.runAsNonRoot, true);
        // Or the address of a Service named kafka would be taken for a setting of Kafka.
        assert.equal(spec.template.spec.enableServiceLinks, false);
      }
      const { ingress } = find(manifests, 'NetworkPolicy', 'platen-demo-mongodb').spec;
      assert.equal(ingress[0].from[0].podSelector.matchLabels['app.kubernetes.io/instance'], 'platen');
      const kept = await render(helm, {
        demo: { enabled: true, persistence: { enabled: true, size: '5Gi' } },
      });
      const [claim] = find(kept, 'StatefulSet', 'platen-demo-kafka').spec.volumeClaimTemplates;
      assert.equal(claim.spec.resources.requests.storage, '5Gi');
    });
  });
}

function assertMounted(spec: Manifest['spec'], path: string, secret: string, key: string): void {
  const mount = spec.containers[0].volumeMounts.find(({ mountPath }: { mountPath: string }) =>
    path.startsWith(`${mountPath}/`),
  );
  const volume = spec.volumes.find(({ name }: { name: string }) => name === mount?.name);
  assert.equal(volume?.secret.secretName, secret);
  const file = path.slice(mount.mountPath.length + 1);
  const item = volume.secret.items.find((found: { path: string }) => found.path === file);
  assert.deepEqual(item, { key, path: file });
}
