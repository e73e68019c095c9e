import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { type ControlPlane, sharedControlPlane } from '../support/kubernetes/control-plane.ts';
import { HELMS, LEAST, type Manifest, manifestsOf, over, render, type Values } from './support/helm.ts';
import { defaultResources, podSpecs, workerTemplate } from './support/pods.ts';

/** Kinds that an API server has only after an installation of their definitions. */
const OF_OTHERS = /^(ServiceMonitor|PodMonitor|PrometheusRule|HTTPRoute)$/;

/** What the chart sets too; the API server takes no name twice. */
const OVERLAID: Values = {
  hostUsers: false,
  schedulerName: 'default-scheduler',
  startupProbe: { failureThreshold: 900 },
  extraEnv: [
    { name: 'PLATEN_LOG_LEVEL', value: 'debug' },
    { name: 'NODE_EXTRA_CA_CERTS', value: '/etc/own/ca.crt' },
  ],
  extraVolumes: [{ name: 'tmp', emptyDir: { sizeLimit: '1Gi' } }],
  extraVolumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
  podSpec: { shareProcessNamespace: true },
};

const VALUES: Readonly<Record<string, Values>> = {
  'the least values': LEAST,
  'a demonstration': { demo: { enabled: true, persistence: { enabled: true, storageClassName: 'fast' } } },
  'everything turned on': over(LEAST, {
    image: { digest: `sha256:${'0'.repeat(64)}`, pullSecrets: ['pull'] },
    extraCa: { existingSecret: { name: 'authority' }, existingConfigMap: { name: 'bundle', key: 'all.pem' } },
    rbac: { aggregate: { view: true, edit: true } },
    mongodb: { tls: { ca: 'PEM' } },
    kafka: {
      brokers: ['a:9093', 'b:9093'],
      tls: { enabled: true, ca: 'PEM' },
      sasl: { mechanism: 'scram-sha-256', username: 'u', password: 'p' },
    },
    bootstrap: { email: 'a@example.com', password: 'correct horse', apiKey: `sk_test_${'k'.repeat(32)}` },
    api: {
      autoscaling: { enabled: true, behavior: { scaleDown: { stabilizationWindowSeconds: 60 } } },
      service: {
        type: 'LoadBalancer',
        nodePort: 30080,
        loadBalancerSourceRanges: ['10.0.0.0/8'],
        loadBalancerIP: '192.0.2.7',
        externalTrafficPolicy: 'Local',
      },
      ...OVERLAID,
      strategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
      revisionHistoryLimit: 2,
      deploymentAnnotations: { 'reloader.stakater.com/auto': 'true' },
      hostAliases: [{ ip: '10.0.0.1', hostnames: ['mongo.example'] }],
      topologySpreadConstraints: [{ maxSkew: 2, topologyKey: 'rack', whenUnsatisfiable: 'DoNotSchedule' }],
    },
    controller: { replicas: 2, ...OVERLAID },
    dispatcher: {
      ...OVERLAID,
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['10.0.0.10', 'fd00::10'], options: [{ name: 'ndots', value: '2' }] },
    },
    worker: {
      ...OVERLAID,
      sandbox: { installProfile: true },
      runtimeClassName: 'gvisor',
      appArmorProfile: { type: 'RuntimeDefault' },
      tmp: { medium: 'Memory', sizeLimit: '1Gi' },
    },
    ingress: {
      enabled: true,
      className: 'nginx',
      hosts: [{ host: 'a.example', paths: [{ path: '/', pathType: 'Prefix' }] }],
      tls: [{ hosts: ['a.example'], secretName: 't' }],
    },
    serviceMonitor: { enabled: true },
    migration: { job: { enabled: true } },
    dashboards: { enabled: true },
    defaultResources: {
      pools: { large: { minReplicas: 0, maxReplicas: 40, slotsPerWorker: 4, isolation: 'job' } },
      plans: { gold: { concurrentRenders: 20, poolRef: 'large' } },
    },
  }),
};

describe('the chart before a real API server', () => {
  let plane: ControlPlane;
  let folder: string;

  before(async () => {
    plane = await sharedControlPlane();
    await plane.installCrds();
    folder = await mkdtemp(join(tmpdir(), 'platen-chart-'));
    // Of a pod that is not restricted, and of a field that does not exist, it speaks up.
    await createNamespace('chart-restricted', { 'pod-security.kubernetes.io/enforce': 'restricted' });
    await createNamespace('chart-restricted-platen-node-setup', {
      'pod-security.kubernetes.io/enforce': 'privileged',
    });
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function createNamespace(name: string, labels: Record<string, string>): Promise<void> {
    await send('apply', [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }]);
  }

  /** The API server checks the objects as it would on a real write. */
  async function send(
    command: 'apply' | 'create',
    objects: readonly object[],
    ...flags: string[]
  ): Promise<string> {
    const file = join(folder, 'objects.json');
    await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
    return plane.kubectl(command, '--validate=strict', '-f', file, ...flags);
  }

  const accept = (objects: readonly object[]) =>
    send('apply', objects, '--server-side', '--dry-run=server', '--field-manager=chart-test');

  for (const helm of HELMS) {
    for (const [name, values] of Object.entries(VALUES)) {
      it(`accepts every object of ${name}, by ${helm}`, async () => {
        const manifests = await render(helm, values, { namespace: 'chart-restricted' });
        const sent = manifests.filter(({ kind }) => !OF_OTHERS.test(kind));
        const accepted = await accept(sent);
        assert.equal(accepted.trim().split('\n').length, sent.length);
      });
    }
  }

  for (const [name, values] of Object.entries(VALUES)) {
    it(`lets every pod of ${name} into a restricted namespace`, async () => {
      const manifests = await render('helm4', values, { namespace: 'chart-restricted' });
      const pods = podSpecs(manifests).filter(({ of }) => !of.startsWith('DaemonSet/'));
      assert.ok(pods.length >= 5);
      const asPod = ({ of, spec }: { of: string; spec: object }, i: number) => ({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: `pod-${i}`, namespace: 'chart-restricted', labels: { of: of.replace('/', '-') } },
        spec: { ...spec, runtimeClassName: undefined, priorityClassName: undefined },
      });
      await send('create', pods.map(asPod), '--dry-run=server');
    });

    it(`it has a worker template and default resources that the server accepts, with ${name}`, async () => {
      const manifests = await render('helm4', values, { namespace: 'chart-restricted' });
      const { metadata, spec } = workerTemplate(manifests);
      const labels = metadata.labels!;
      const deployment = {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'workers', namespace: 'chart-restricted' },
        spec: { selector: { matchLabels: labels }, template: { metadata, spec } },
      };
      await accept([deployment, ...defaultResources(manifests)]);
    });
  }

  it('holds the images of pools to the policy of docs/production.md', async () => {
    const text = await readFile(new URL('../../docs/production.md', import.meta.url), 'utf8');
    const [, block = ''] = /```yaml\n(apiVersion: admissionregistration[\s\S]*?)```/.exec(text) ?? [];
    const policies = manifestsOf(block);
    assert.deepEqual(
      policies.map(({ kind }) => kind),
      ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'],
    );
    const pool = (image: string) => ({
      apiVersion: 'platen.dev/v1alpha1',
      kind: 'RenderPool',
      metadata: { name: 'bounded', namespace: 'chart-restricted' },
      spec: { image },
    });
    await send('apply', policies);
    try {
      const refused = () =>
        accept([pool('strangers/image:1')]).then(
          () => false,
          (error: Error) => /must be one of registry\.example\.com\/team\/platen/.test(error.message),
        );
      // The API server takes a moment to read a policy.
      await eventually('the policy holds', refused);
      await accept([pool('registry.example.com/team/platen@sha256:1')]);
      await accept([{ ...pool(''), spec: {} }]);
    } finally {
      for (const { kind, metadata } of policies) await plane.kubectl('delete', kind, metadata.name);
    }
  });

  it('is rejected by the server for unrestricted pods and for unknown fields', async () => {
    const pod = (spec: object): Manifest => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'bad', namespace: 'chart-restricted' },
      spec: { containers: [{ name: 'a', image: 'a', ...spec }] },
    });
    await assert.rejects(send('create', [pod({})], '--dry-run=server'), /violates PodSecurity "restricted/);
    await assert.rejects(
      accept([pod({ imagePolicy: 'Never' })]),
      /field not declared in schema|unknown field/,
    );
  });
});
