import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_PLANS } from '../../src/tenants/plans/plan.ts';
import { eventually } from '../support/eventually.ts';
import { type ControlPlane, sharedControlPlane } from '../support/kubernetes/control-plane.ts';
import { grantRights, kubeconfigOf } from '../support/kubernetes/service-account.ts';
import { startMongo } from '../support/mongo.ts';
import { type RoleProcess, startRole } from '../support/processes.ts';
import { find, LEAST, type Manifest, over, render } from './support/helm.ts';
import { environment } from './support/pods.ts';

const NAMESPACE = 'chart-controller';
const METADATA_BY_IPV6 = ['fe80::/10', 'fd00:ec2::/32', 'fd20:ce::254/128', 'fd00:c1::a9fe:a9fe/128'];

describe("the controller under the chart's Role", () => {
  let plane: ControlPlane;
  let folder: string;
  let controller: RoleProcess | undefined;

  before(async () => {
    plane = await sharedControlPlane();
    await plane.installCrds();
    await plane.kubectl('create', 'namespace', NAMESPACE);
    folder = await mkdtemp(join(tmpdir(), 'platen-chart-controller-'));
  });
  after(async () => {
    await controller?.end('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  const names = async (kind: string) => {
    const { items } = JSON.parse(await plane.kubectl('get', kind, '-n', NAMESPACE, '-o', 'json'));
    return items.map(({ metadata }: Manifest) => metadata.name).sort() as string[];
  };

  it("makes the first plans and pool, and the pool's workers, with the rights of its Role alone", async () => {
    const apiServerNetworks = ['192.0.2.10/32', '2001:db8::10/128'];
    const values = over(LEAST, { crds: { enabled: false }, networkPolicy: { apiServerNetworks } });
    const manifests = await render('helm4', values, { namespace: NAMESPACE });
    await grantRights(plane, folder, manifests);
    const files = find(manifests, 'ConfigMap', 'platen-controller').data as Record<string, string>;
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);

    controller = await startRole('controller', {
      ...environment(manifests, 'controller'),
      KUBECONFIG: await kubeconfigOf(plane, folder, { namespace: NAMESPACE, name: 'platen-controller' }),
      MONGODB_URI: (await startMongo()).uri,
      POD_NAME: 'platen-controller-0',
      POD_NAMESPACE: NAMESPACE,
      KUBERNETES_SERVICE_HOST: '10.96.0.1',
      PLATEN_OPS_PORT: '0',
      PLATEN_WORKER_TEMPLATE_FILE: join(folder, 'worker-template.yaml'),
      PLATEN_DEFAULT_RESOURCES_FILE: join(folder, 'default-resources.yaml'),
      PLATEN_LINK_SECRET_FILE: join(folder, 'link-secret.yaml'),
    });
    const workers = 'platen-pool-default';
    await eventually(workers, async () => (await names('deployments')).includes(workers));
    await eventually('the pool tells of itself', async () => {
      const pool = JSON.parse(
        await plane.kubectl('get', 'renderpool', 'default', '-n', NAMESPACE, '-o', 'json'),
      );
      return pool.status?.conditions?.length > 0;
    });
    const plans = Object.keys(DEFAULT_PLANS).sort().join();
    await eventually('the plans', async () => (await names('renderplans')).join() === plans);
    for (const kind of ['serviceaccounts', 'networkpolicies', 'poddisruptionbudgets'])
      await eventually(kind, async () => (await names(kind)).includes(workers));
    const { spec } = JSON.parse(
      await plane.kubectl('get', 'deployment', workers, '-n', NAMESPACE, '-o', 'json'),
    ).spec.template;
    assert.equal(spec.securityContext.runAsNonRoot, true);
    assert.equal(
      spec.containers[0].env.find(({ name }: { name: string }) => name === 'PLATEN_SANDBOX').value,
      'preferred',
    );
    const policy = JSON.parse(
      await plane.kubectl('get', 'networkpolicy', workers, '-n', NAMESPACE, '-o', 'json'),
    );
    const egress = policy.spec.egress as {
      to?: { ipBlock?: { cidr: string; except?: string[] } }[];
      ports?: { port: number; protocol: string }[];
    }[];
    const reached = egress.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock ?? []));
    const closed = (all: string) => reached.find(({ cidr }) => cidr === all)?.except;
    // The metadata services, and the API server, as a Service and itself.
    assert.deepEqual(closed('0.0.0.0/0'), ['169.254.0.0/16', '192.0.2.10/32', '10.96.0.1/32']);
    assert.deepEqual(closed('::/0'), [...METADATA_BY_IPV6, '2001:db8::10/128']);
    // Only DNS is allowed to every address: a cache on the node, or the metadata address itself, of either family.
    const anywhere = egress.filter(({ to }) => to === undefined);
    assert.deepEqual(
      anywhere.map(({ ports }) => ports?.map(({ port, protocol }) => `${protocol} ${port}`)),
      [['UDP 53', 'TCP 53']],
    );
    const secret = JSON.parse(
      await plane.kubectl('get', 'secret', 'platen-secret', '-n', NAMESPACE, '-o', 'json'),
    );
    assert.match(Buffer.from(secret.data.secret, 'base64').toString(), /^[\w-]{48}$/);
    const refused = controller.logs.filter((line) => /forbidden/i.test(JSON.stringify(line)));
    assert.deepEqual(refused, []);
  });

  it('may not read a Secret, make a pod, or read another namespace', async () => {
    const account = `system:serviceaccount:${NAMESPACE}:platen-controller`;
    const may = (verb: string, resource: string, namespace: string) =>
      plane.kubectl('auth', 'can-i', verb, resource, '-n', namespace, '--as', account).then(
        () => true,
        () => false,
      );
    assert.equal(await may('patch', 'pods', NAMESPACE), true);
    for (const verb of ['get', 'list', 'watch', 'update', 'patch', 'delete'])
      assert.equal(await may(verb, 'secrets', NAMESPACE), false, verb);
    assert.equal(await may('create', 'pods', NAMESPACE), false);
    assert.equal(await may('delete', 'pods', NAMESPACE), false);
    assert.equal(await may('list', 'renderpools', 'default'), false);
    assert.equal(await may('list', 'nodes', 'default'), false);
  });
});
