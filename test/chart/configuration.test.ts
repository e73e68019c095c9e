import assert from 'node:assert/strict';
import { loadConfig, type Role } from '../../src/config/config.ts';
import { environmentSchema } from '../../src/config/environment.ts';
import { LEAST, type Manifest, over, render, type Values } from './support/helm.ts';
import { environment, podSpec } from './support/pods.ts';

/** Read by Node itself. */
const OF_NODE = ['NODE_EXTRA_CA_CERTS', 'NODE_USE_SYSTEM_CA', 'SSL_CERT_DIR'];
/** The value that Kubernetes gives a variable, by its name. */
const IN_A_POD: Readonly<Record<string, string>> = {
  MONGODB_URI: 'mongodb://mongo.example/platen',
  PLATEN_SECRET: 'a secret of thirty-two characters',
  PLATEN_BOOTSTRAP_PASSWORD: 'correct horse',
  PLATEN_BOOTSTRAP_API_KEY: `sk_live_${'k'.repeat(32)}`,
  KAFKA_SASL_PASSWORD: 'pass',
  STRIPE_SECRET_KEY: 'rk_test_chart',
  STRIPE_WEBHOOK_SECRET: 'whsec_chart',
  SMTP_URL: 'smtps://platen:pass@mail.example.com:465',
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20token',
  AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'secret',
  AWS_SESSION_TOKEN: 'token',
  POD_NAME: 'platen-controller-0',
  POD_NAMESPACE: 'default',
};

const VALUES: Readonly<Record<string, Values>> = {
  'the least values': LEAST,
  'everything said': over(LEAST, {
    extraCa: { existingSecret: { name: 'authority' } },
    mongodb: { tls: { ca: 'PEM', clientCertificate: { existingSecret: { name: 'db-client' } } } },
    kafka: {
      brokers: ['a:9093', 'b:9093'],
      tls: { enabled: true, ca: 'PEM', clientCertificate: { existingSecret: { name: 'kafka-user' } } },
      sasl: { mechanism: 'scram-sha-512', username: 'u', password: 'pass' },
      topics: { prefix: 'print', replication: 3 },
    },
    bootstrap: { email: 'a@example.com', password: 'correct horse', apiKey: `sk_live_${'k'.repeat(32)}` },
    stripe: {
      secretKey: 'rk_test_chart',
      webhookSecret: 'whsec_chart',
      apiBase: 'http://stand-in.test:8080',
    },
    mail: { smtpUrl: 'smtps://platen:pass@mail.example.com:465', from: 'billing@example.com' },
    outputs: {
      store: 's3',
      s3: {
        bucket: 'pdfs',
        endpoint: 'https://minio.storage.svc:9000',
        region: 'eu-central-1',
        prefix: 'platen/',
        pathStyle: 'on',
        kmsKey: 'alias/pdfs',
        publicEndpoint: 'https://files.example.com',
        existingSecret: { name: 'bucket', sessionTokenKey: 'token' },
      },
    },
    tracing: {
      endpoint: 'http://collector.monitoring:4318',
      headers: { existingSecret: { name: 'collector', key: 'token' } },
      sampler: 'parentbased_traceidratio',
      samplerArg: 0.25,
    },
    config: {
      publicUrl: 'https://pdf.example.com',
      trustedProxies: 2,
      headerPrefix: 'X-Print-',
      logLevel: 'warn',
      syncWaitMs: 1000,
      maxLiveJobs: 5_000_000,
      registration: 'invite',
      confirmAddress: 'required',
      registrationsPerAddress: 5,
      locale: 'de-AT',
      allowedPrivateNetworks: ['10.0.0.0/8', 'fd00::/8'],
      proxy: {
        url: 'http://proxy.example.com:3128',
        noProxy: ['corp.example', '10.0.0.0/8'],
        lookup: 'proxy',
      },
      oidc: {
        issuer: 'https://id.example.com',
        audience: 'platen',
        clientId: 'platen-dashboard',
        existingSecret: { name: 'issuer', key: 'secret-of-platen' },
      },
    },
    controller: { watchNamespaces: ['red', 'blue'], cluster: 'east' },
    networkPolicy: { enabled: false },
  }),
  'brokers with certificates that everybody trusts': over(LEAST, { kafka: { tls: { enabled: true } } }),
};

describe('what the chart configures', () => {
  for (const [name, values] of Object.entries(VALUES)) {
    for (const role of ['api', 'worker', 'dispatcher', 'controller'] as const) {
      it(`is known to the role ${role} and valid for it, with ${name}`, async () => {
        const given = inPod(await render('helm4', values), role);
        const unknown = Object.keys(given).filter((variable) => !(variable in environmentSchema.shape));
        assert.deepEqual(
          unknown.filter((variable) => !OF_NODE.includes(variable)),
          [],
        );
        loadConfig(role, given);
      });
    }
  }

  it('takes the address of a proxy from a Secret for all roles that work on jobs', async () => {
    const proxy = { existingSecret: { name: 'corporate-proxy', key: 'address' }, noProxy: ['corp.example'] };
    const manifests = await render('helm4', over(LEAST, { config: { proxy } }));
    for (const role of ['api', 'worker', 'dispatcher'] as const) {
      const [{ env }] = podSpec(manifests, role).containers;
      const variable = env.find(({ name }: { name: string }) => name === 'HTTPS_PROXY');
      const secretKeyRef = { name: 'corporate-proxy', key: 'address' };
      assert.deepEqual(variable, { name: 'HTTPS_PROXY', valueFrom: { secretKeyRef } });
    }
    assert.equal(inPod(manifests, 'controller').HTTPS_PROXY, undefined);
  });

  it('sends traces of all roles that work on jobs to the collector, with headers of a Secret', async () => {
    const manifests = await render('helm4', VALUES['everything said']!);
    for (const role of ['api', 'worker', 'dispatcher'] as const) {
      const { env } = podSpec(manifests, role).containers[0];
      const variable = env.find(({ name }: { name: string }) => name === 'OTEL_EXPORTER_OTLP_HEADERS');
      assert.deepEqual(variable.valueFrom, { secretKeyRef: { name: 'collector', key: 'token' } });
      const config = loadConfig(role, inPod(manifests, role));
      assert.deepEqual(
        [config.OTEL_EXPORTER_OTLP_ENDPOINT, config.OTEL_TRACES_SAMPLER, config.OTEL_TRACES_SAMPLER_ARG],
        ['http://collector.monitoring:4318', 'parentbased_traceidratio', 0.25],
      );
    }
    const none = await render('helm4', over(VALUES['everything said']!, { tracing: { endpoint: '' } }));
    for (const role of ['api', 'worker', 'dispatcher', 'controller'] as const)
      assert.deepEqual(
        Object.keys(inPod(none, role)).filter((name) => name.startsWith('OTEL_')),
        [],
      );
  });

  it('reaches the configuration unchanged', async () => {
    const manifests = await render('helm4', VALUES['everything said']!);
    const api = loadConfig('api', inPod(manifests, 'api'));
    assert.deepEqual(api.KAFKA_BROKERS, ['a:9093', 'b:9093']);
    assert.equal(api.PLATEN_KAFKA_REPLICATION, 3);
    assert.deepEqual(
      [api.PLATEN_TRUSTED_PROXIES, api.PLATEN_SYNC_WAIT_MS, api.PLATEN_MAX_LIVE_JOBS],
      [2, 1000, 5_000_000],
    );
    assert.deepEqual([api.PLATEN_REGISTRATION, api.PLATEN_REGISTRATIONS_PER_ADDRESS], ['invite', 5]);
    const worker = loadConfig('worker', inPod(manifests, 'worker'));
    assert.deepEqual(worker.PLATEN_ALLOWED_PRIVATE_NETWORKS, ['10.0.0.0/8', 'fd00::/8']);
    assert.equal(worker.PLATEN_LOCALE, 'de-AT');
    assert.equal(worker.HTTPS_PROXY, 'http://proxy.example.com:3128');
    assert.deepEqual(
      [worker.NO_PROXY, worker.PLATEN_PROXY_LOOKUP],
      [['corp.example', '10.0.0.0/8'], 'proxy'],
    );
    const dispatcher = loadConfig('dispatcher', inPod(manifests, 'dispatcher'));
    for (const { STRIPE_SECRET_KEY, STRIPE_API_BASE, PLATEN_PUBLIC_URL } of [api, dispatcher]) {
      assert.deepEqual(
        [STRIPE_SECRET_KEY, STRIPE_API_BASE, PLATEN_PUBLIC_URL],
        ['rk_test_chart', 'http://stand-in.test:8080', 'https://pdf.example.com'],
      );
    }
    assert.equal(api.STRIPE_WEBHOOK_SECRET, 'whsec_chart');
    assert.deepEqual(
      [dispatcher.SMTP_URL, dispatcher.PLATEN_MAIL_FROM],
      ['smtps://platen:pass@mail.example.com:465', 'billing@example.com'],
    );
    const controller = loadConfig('controller', inPod(manifests, 'controller'));
    assert.deepEqual(controller.PLATEN_WATCH_NAMESPACES, ['red', 'blue']);
    assert.deepEqual(
      [controller.PLATEN_LEASE_NAME, controller.PLATEN_CLUSTER],
      ['platen-controller', 'east'],
    );
    assert.equal(controller.PLATEN_WORKER_NETWORK_POLICIES, 'off');
    const trusted = await render('helm4', VALUES['brokers with certificates that everybody trusts']!);
    assert.equal(loadConfig('api', inPod(trusted, 'api')).KAFKA_SSL_CA, 'system');
  });
});

function inPod(manifests: readonly Manifest[], role: Role): Record<string, string> {
  const given = environment(manifests, role);
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, IN_A_POD[name] ?? value]));
}
