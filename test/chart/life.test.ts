import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ControlPlane, sharedControlPlane } from '../support/kubernetes/control-plane.ts';
import { chartArguments, HELMS, LEAST, over, runHelm, type Values } from './support/helm.ts';

const SECRET = 'platen-secret';

/** Endpoints of a Service in the namespace default, one for each address. */
function endpointSlice(service: string, addressType: 'IPv4' | 'IPv6', addresses: readonly string[]): object {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `life-${service}-${addressType.toLowerCase()}`,
      namespace: 'default',
      labels: { 'kubernetes.io/service-name': service },
    },
    addressType,
    endpoints: addresses.map((address) => ({ addresses: [address] })),
    ports: [{ name: 'https', protocol: 'TCP', port: 6443 }],
  };
}

for (const helm of HELMS) {
  describe(`the life of a release, by ${helm}`, () => {
    const namespace = `life-${helm}`;
    let plane: ControlPlane;

    before(async () => {
      plane = await sharedControlPlane();
      await plane.kubectl('create', 'namespace', namespace);
    });
    after(() => plane.kubectl('delete', 'namespace', namespace, '--wait=false'));

    /** Nothing runs here, so nothing is waited for. */
    async function helmDoes(args: readonly string[], values?: Values): Promise<string> {
      const { code, stdout, stderr } = await runHelm(helm, args, {
        ...(values && { values }),
        kubeconfig: plane.kubeconfigPath,
      });
      assert.equal(code, 0, stderr);
      return stdout;
    }
    // The definitions are shared by all tests of this API server: they are not this release's to make.
    const least = over(LEAST, { crds: { enabled: false } });
    const upgrade = (values: Values) =>
      helmDoes(chartArguments('upgrade', 'platen', namespace), over(least, values));
    const get = async (kind: string, name: string) =>
      JSON.parse(await plane.kubectl('get', kind, name, '-n', namespace, '-o', 'json'));
    const secret = async () => (await get('secret', SECRET)).data.secret as string;
    const replicas = async (role: string) => (await get('deployment', `platen-${role}`)).spec.replicas;

    it('is installed, and reports what is missing', async () => {
      const output = await helmDoes(chartArguments('install', 'platen', namespace), least);
      assert.match(output, /Platen .* is being started in the namespace life-helm/);
      assert.match(output, /- Sandbox: most clusters refuse Chromium its sandbox/);
      assert.match(output, /- TLS: Kafka is spoken to in the clear/);
      assert.match(output, /platen accounts create you@example\.com/);
      await assert.rejects(secret(), /NotFound/);
    });

    it('takes over the Secret that the controller has made when one is given, and leaves it otherwise', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'platen-secret-'));
      const file = join(folder, 'secret.yaml');
      await writeFile(file, (await get('configmap', 'platen-controller')).data['link-secret.yaml']);
      await plane.kubectl('create', '-f', file);
      await rm(folder, { recursive: true });
      const value = 'x'.repeat(32);
      await upgrade({ secret: { value } });
      const before = await secret();
      assert.equal(Buffer.from(before, 'base64').toString(), value);
      // As charts did that made one themselves: their secret was one of the release.
      await upgrade({ config: { logLevel: 'debug' } });
      assert.equal(await secret(), before);
      const { env } = (await get('deployment', 'platen-api')).spec.template.spec.containers[0];
      assert.equal(env.find(({ name }: { name: string }) => name === 'PLATEN_LOG_LEVEL').value, 'debug');
    });

    it('restarts the processes for another database, but not for another number of replicas', async () => {
      const template = async () => (await get('deployment', 'platen-dispatcher')).spec.template;
      const before = await template();
      await upgrade({
        config: { logLevel: 'debug' },
        dispatcher: { podDisruptionBudget: { maxUnavailable: 2 } },
      });
      assert.deepEqual(await template(), before);
      await upgrade({ config: { logLevel: 'debug' }, mongodb: { uri: 'mongodb://other.example/platen' } });
      assert.notDeepEqual((await template()).metadata.annotations, before.metadata.annotations);
    });

    it('leaves the replicas that kubectl scale has set', async () => {
      for (const role of ['api', 'dispatcher', 'controller']) {
        await plane.kubectl('scale', 'deployment', `platen-${role}`, '--replicas=3', '-n', namespace);
      }
      await upgrade({ config: { logLevel: 'warn' } });
      for (const role of ['api', 'dispatcher', 'controller']) assert.equal(await replicas(role), 3, role);
    });

    it('rolls back to the previous release', async () => {
      const before = await secret();
      await upgrade({ config: { logLevel: 'error' } });
      await helmDoes(['rollback', 'platen', '--namespace', namespace]);
      const { env } = (await get('deployment', 'platen-api')).spec.template.spec.containers[0];
      assert.equal(env.find(({ name }: { name: string }) => name === 'PLATEN_LOG_LEVEL').value, 'warn');
      assert.equal(await secret(), before);
      assert.equal(await replicas('api'), 3);
    });

    it("keeps workers from the API server's addresses, found or configured", async () => {
      const folder = await mkdtemp(join(tmpdir(), 'platen-slices-'));
      const file = join(folder, 'slices.json');
      // An API server at a loopback address, as this one, writes none of itself.
      const items = [
        endpointSlice('kubernetes', 'IPv4', ['192.0.2.11', '192.0.2.10']),
        endpointSlice('kubernetes', 'IPv6', ['2001:db8::10']),
        endpointSlice('another', 'IPv4', ['192.0.2.99']),
      ];
      await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
      await plane.kubectl('apply', '-f', file);
      const blocked = async (networkPolicy: Values) => {
        await upgrade({ networkPolicy });
        const { env } = (await get('deployment', 'platen-controller')).spec.template.spec.containers[0];
        return env.find(({ name }: { name: string }) => name === 'PLATEN_WORKER_BLOCKED_NETWORKS').value;
      };
      try {
        const blockedNetworks = ['169.254.0.0/16'];
        assert.equal(
          await blocked({ blockedNetworks, lookUpApiServer: true }),
          '169.254.0.0/16,192.0.2.10/32,192.0.2.11/32,2001:db8::10/128',
        );
        assert.equal(
          await blocked({ blockedNetworks, apiServerNetworks: ['203.0.113.0/28'] }),
          '169.254.0.0/16,203.0.113.0/28',
        );
        assert.equal(await blocked({ blockedNetworks }), '169.254.0.0/16');
      } finally {
        await plane.kubectl('delete', '-f', file);
        await rm(folder, { recursive: true });
      }
    });

    it('takes the texts of the notes from the values', async () => {
      const output = await upgrade({
        mongodb: { uri: 'mongodb://platen:password@mongo.example/platen' },
        worker: { sandbox: { installProfile: true, namespace: `${namespace}-nodes` } },
        config: { publicUrl: 'https://pdf.example.com' },
        ingress: { enabled: true, hosts: [{ host: 'pdf.example.com' }] },
      });
      assert.match(output, /- Secrets: the password of the database stands in the values/);
      assert.match(output, /- TLS: the ingress has none/);
      assert.match(output, new RegExp(`kubectl -n ${namespace} patch renderpool default`));
      assert.doesNotMatch(output, /most clusters refuse Chromium|config\.publicUrl/);
    });

    it('is uninstalled without its Secret, which the next installation uses', async () => {
      const before = await secret();
      await helmDoes(['uninstall', 'platen', '--namespace', namespace]);
      await assert.rejects(get('deployment', 'platen-api'), /NotFound/);
      assert.equal(await secret(), before);
      await helmDoes(chartArguments('install', 'platen', namespace), least);
      assert.equal(await secret(), before);
      await helmDoes(['uninstall', 'platen', '--namespace', namespace]);
    });
  });
}

describe('the definitions of a release', () => {
  for (const helm of HELMS) {
    it(`are installed with it, and stay when it is uninstalled, with ${helm}`, async () => {
      const plane = await sharedControlPlane();
      const namespace = `definitions-${helm}`;
      await plane.kubectl('create', 'namespace', namespace);
      const options = { kubeconfig: plane.kubeconfigPath };
      // Definitions from other tests are taken over.
      const take = ['annotate', 'crd', 'renderplans.platen.dev', 'renderpools.platen.dev', '--overwrite'];
      if ((await plane.kubectl('get', 'crd', '-o', 'name')).includes('renderpools.platen.dev')) {
        await plane.kubectl(
          ...take,
          'meta.helm.sh/release-name=platen',
          `meta.helm.sh/release-namespace=${namespace}`,
        );
        await plane.kubectl('label', ...take.slice(1), 'app.kubernetes.io/managed-by=Helm');
      }
      const flags = helm === 'helm4' ? ['--force-conflicts'] : [];
      const installed = await runHelm(helm, [...chartArguments('install', 'platen', namespace), ...flags], {
        ...options,
        values: LEAST,
      });
      assert.equal(installed.code, 0, installed.stderr);
      await plane.served('renderpools.platen.dev');
      const pool = ['renderpool', 'kept', '-n', namespace];
      const folder = await mkdtemp(join(tmpdir(), 'platen-pool-'));
      const file = join(folder, 'pool.json');
      const object = {
        apiVersion: 'platen.dev/v1alpha1',
        kind: 'RenderPool',
        metadata: { name: 'kept' },
        spec: {},
      };
      await writeFile(file, JSON.stringify(object));
      await plane.kubectl('create', '-n', namespace, '-f', file);
      await rm(folder, { recursive: true });
      const removed = await runHelm(helm, ['uninstall', 'platen', '--namespace', namespace], options);
      assert.equal(removed.code, 0, removed.stderr);
      assert.match(await plane.kubectl('get', ...pool, '-o', 'name'), /renderpool\.platen\.dev\/kept/);
      await plane.kubectl('delete', ...pool);
    });
  }
});
