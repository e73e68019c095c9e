import assert from 'node:assert/strict';
import { copyFile, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HELMS, LEAST, manifestsOf, nameOf, over, render, runHelm, type Values } from './support/helm.ts';
import { podSpec } from './support/pods.ts';

const CHART = fileURLToPath(new URL('../../charts/platen', import.meta.url));
/** The defaults of `helm upgrade --reuse-values`: those of the chart that was installed before. */
const BEFORE = fileURLToPath(new URL('fixtures/values-of-0.1.0.yaml', import.meta.url));

const CERTIFICATE = { existingSecret: { name: 'client' } };
const VALUES: Readonly<Record<string, Values>> = {
  'the least values': LEAST,
  'everything turned on': over(LEAST, {
    bootstrap: { email: 'a@example.com', apiKey: `sk_live_${'k'.repeat(32)}` },
    kafka: {
      tls: { enabled: true, clientCertificate: CERTIFICATE },
      sasl: { mechanism: 'plain', username: 'u', password: 'p' },
    },
    mongodb: { tls: { ca: 'PEM', clientCertificate: CERTIFICATE } },
    stripe: { secretKey: 'rk_test_x', webhookSecret: 'whsec_x' },
    mail: { smtpUrl: 'smtps://mail.example.com:465', from: 'a@example.com' },
    config: { publicUrl: 'https://pdf.example.com' },
    api: { autoscaling: { enabled: true } },
    worker: { sandbox: { installProfile: true, namespace: 'node-setup' } },
    controller: { watchNamespaces: ['red', 'blue'] },
    ingress: { enabled: true, hosts: [{ host: 'pdf.example.com' }] },
    httpRoute: { enabled: true, parentRefs: [{ name: 'gateway' }] },
    serviceMonitor: { enabled: true },
    migration: { job: { enabled: true } },
    prometheusRule: { enabled: true },
    dashboards: { enabled: true },
    demo: { enabled: true },
  }),
};

describe('the chart with the values of an older one', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-reused-'));
    await cp(CHART, folder, { recursive: true });
    await copyFile(BEFORE, join(folder, 'values.yaml'));
  });
  after(() => rm(folder, { recursive: true }));

  for (const helm of HELMS) {
    for (const [name, values] of Object.entries(VALUES)) {
      it(`renders the same as with its own values, by ${helm}, for ${name}`, async () => {
        const args = ['template', 'platen', folder, '--kube-version', '1.34.0'];
        const { code, stdout, stderr } = await runHelm(helm, args, { values });
        assert.equal(code, 0, stderr);
        const [reused, own] = [manifestsOf(stdout), await render(helm, values)];
        assert.deepEqual(reused.map(nameOf).sort(), own.map(nameOf).sort());
        for (const role of ['api', 'dispatcher', 'controller', 'worker']) {
          const [{ containers, ...spec }, expected] = [podSpec(reused, role), podSpec(own, role)];
          assert.deepEqual(spec.volumes, expected.volumes, role);
          assert.deepEqual(containers[0].volumeMounts, expected.containers[0].volumeMounts, role);
        }
      });
    }
  }
});
