import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { find, HELMS, LEAST, type Manifest, over, render, type Values } from './support/helm.ts';
import { defaultResources, podSpec, workerTemplate } from './support/pods.ts';

const INSTALLER = 'platen-seccomp-installer';
const LABEL = 'platen.dev/seccomp-profile';

for (const helm of HELMS) {
  describe(`Chromium's sandbox in the chart, by ${helm}`, () => {
    let manifests: Manifest[];
    before(async () => {
      manifests = await rendered({
        worker: { sandbox: { installProfile: true }, nodeSelector: { disk: 'ssd' } },
      });
    });

    const rendered = (values: Values) => render(helm, over(LEAST, values));

    it('installs the profile from a separate namespace, without other objects of Platen', () => {
      const namespace = find(manifests, 'Namespace', 'default-platen-node-setup');
      assert.equal(namespace.metadata.labels?.['pod-security.kubernetes.io/enforce'], 'privileged');
      const inside = manifests.filter(({ metadata }) => metadata.namespace === 'default-platen-node-setup');
      assert.deepEqual(inside.map(({ kind }) => kind).sort(), ['ConfigMap', 'DaemonSet', 'ServiceAccount']);
    });

    it('lets the installer label nodes, and nothing else in the cluster', () => {
      const role = find(manifests, 'ClusterRole', `default-${INSTALLER}`);
      assert.deepEqual(role.rules, [{ apiGroups: [''], resources: ['nodes'], verbs: ['get', 'patch'] }]);
      const binding = find(manifests, 'ClusterRoleBinding', `default-${INSTALLER}`);
      assert.deepEqual(binding.subjects, [
        { kind: 'ServiceAccount', name: INSTALLER, namespace: 'default-platen-node-setup' },
      ]);
      const { containers, volumes } = find(manifests, 'DaemonSet', INSTALLER).spec.template.spec;
      assert.equal(containers[0].securityContext.readOnlyRootFilesystem, true);
      assert.deepEqual(
        volumes.flatMap(({ hostPath }: { hostPath?: { path: string } }) => hostPath?.path ?? []),
        ['/var/lib/kubelet/seccomp'],
      );
    });

    it('requires of every worker the profile that the installer puts on the nodes, under the same name', () => {
      const { containers, volumes } = find(manifests, 'DaemonSet', INSTALLER).spec.template.spec;
      const [command, , target, label] = containers[0].args as string[];
      assert.equal(command, 'install-seccomp-profile');
      const { securityContext } = workerTemplate(manifests).spec;
      assert.equal(securityContext.seccompProfile.type, 'Localhost');
      assert.equal(`/host/seccomp/${securityContext.seccompProfile.localhostProfile}`, target);
      const [{ preference }] = preferences(workerTemplate(manifests).spec);
      assert.deepEqual(preference.matchExpressions, [
        { key: LABEL, operator: 'In', values: [label!.slice(LABEL.length + 1)] },
      ]);
      assert.ok(
        volumes.some(({ configMap }: { configMap?: { name: string } }) => configMap?.name === INSTALLER),
      );
      // Named by its content: a changed profile is another file, and another label.
      const { 'profile.json': profile } = find(manifests, 'ConfigMap', INSTALLER).data;
      const hash = createHash('sha256').update(profile).digest('hex').slice(0, 12);
      assert.equal(securityContext.seccompProfile.localhostProfile, `platen/sandbox-${hash}.json`);
      for (const role of ['api', 'dispatcher', 'controller']) {
        assert.equal(podSpec(manifests, role).securityContext.seccompProfile.type, 'RuntimeDefault');
      }
    });

    it('requires of a node what a new one has, so that an autoscaler starts it, and prefers nodes with the profile', async () => {
      const { spec } = workerTemplate(manifests);
      // The label is set after the node has joined: an autoscaler that simulates a new node does not know it.
      assert.deepEqual(spec.nodeSelector, { disk: 'ssd', 'kubernetes.io/os': 'linux' });
      assert.ok(!JSON.stringify(spec.affinity).includes('required'));
      // Workers go where the installer goes, and nowhere else.
      const given = await rendered({
        worker: {
          sandbox: { installProfile: true, nodeSelector: { kind: 'render' } },
          affinity: {
            nodeAffinity: {
              preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: { a: 'b' } }],
            },
            podAntiAffinity: { c: 'd' },
          },
        },
      });
      const template = workerTemplate(given).spec;
      assert.equal(template.nodeSelector.kind, 'render');
      assert.equal(find(given, 'DaemonSet', INSTALLER).spec.template.spec.nodeSelector.kind, 'render');
      assert.deepEqual(
        preferences(template).map(({ weight }) => weight),
        [1, 100],
      );
      assert.deepEqual(template.affinity.podAntiAffinity, { c: 'd' });
    });

    it('has the first pool require the sandbox by default', async () => {
      const pool = (from: Manifest[]) =>
        defaultResources(from).find(({ kind }) => kind === 'RenderPool')!.spec;
      assert.equal(pool(manifests).sandbox, 'required');
      assert.equal(pool(await rendered({})).sandbox, undefined);
      const unrestricted = await rendered({
        worker: { sandbox: { installProfile: true } },
        defaultResources: { pools: { default: { sandbox: 'off' } } },
      });
      assert.equal(pool(unrestricted).sandbox, 'off');
    });

    it('uses a profile that is already on the nodes', async () => {
      const own = await rendered({ worker: { sandbox: { localhostProfile: 'chromium.json' } } });
      const { spec } = workerTemplate(own);
      assert.deepEqual(spec.securityContext.seccompProfile, {
        type: 'Localhost',
        localhostProfile: 'chromium.json',
      });
      assert.deepEqual(spec.nodeSelector, { 'kubernetes.io/os': 'linux' });
      assert.ok(!own.some(({ kind }) => kind === 'DaemonSet'));
    });

    it('can use an existing namespace, and run under another runtime', async () => {
      const given = await rendered({
        worker: {
          sandbox: { installProfile: true, createNamespace: false, namespace: 'kube-system' },
          runtimeClassName: 'gvisor',
          appArmorProfile: { type: 'Unconfined' },
        },
      });
      assert.ok(!given.some(({ kind }) => kind === 'Namespace'));
      assert.equal(find(given, 'DaemonSet', INSTALLER).metadata.namespace, 'kube-system');
      const { spec } = workerTemplate(given);
      assert.equal(spec.runtimeClassName, 'gvisor');
      assert.deepEqual(spec.securityContext.appArmorProfile, { type: 'Unconfined' });
    });
  });
}

interface Preference {
  readonly weight: number;
  readonly preference: { readonly matchExpressions: readonly object[] };
}

function preferences(spec: Manifest['spec']): [Preference, ...Preference[]] {
  return spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution;
}

describe('the seccomp profile of the chart', () => {
  interface Rule {
    readonly names: readonly string[];
    readonly action: string;
    readonly args?: readonly { index: number; value: number; valueTwo?: number; op: string }[];
    readonly errnoRet?: number;
  }
  const read = async () => {
    const text = await import('../../charts/platen/files/seccomp-profile.json', { with: { type: 'json' } });
    return text.default as { defaultAction: string; syscalls: Rule[] };
  };
  const rulesFor = async (name: string) =>
    (await read()).syscalls.filter(({ names }) => names.includes(name));

  it('rejects system calls that it does not name', async () => {
    assert.equal((await read()).defaultAction, 'SCMP_ACT_ERRNO');
    for (const name of [
      'mount',
      'pivot_root',
      'setns',
      'bpf',
      'keyctl',
      'io_uring_setup',
      'socketcall',
      'init_module',
    ]) {
      assert.deepEqual(await rulesFor(name), [], name);
    }
  });

  it('allows the namespaces of Chromium’s sandbox, and no mount namespace', async () => {
    const [NEWNS, NEWUSER, NEWPID, NEWNET] = [0x20000, 0x10000000, 0x20000000, 0x40000000];
    for (const name of ['clone', 'unshare']) {
      const [rule, ...more] = await rulesFor(name);
      assert.deepEqual(more, []);
      const { value, valueTwo, op } = rule!.args![0]!;
      assert.deepEqual([op, valueTwo], ['SCMP_CMP_MASKED_EQ', 0]);
      assert.equal(value & (NEWUSER | NEWPID | NEWNET), 0);
      assert.equal(value & NEWNS, NEWNS);
    }
    assert.equal((await rulesFor('chroot')).length, 1);
    // Its flags are behind a pointer, which no filter sees; libraries fall back to clone.
    assert.deepEqual(await rulesFor('clone3'), [
      { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: 38 },
    ]);
  });

  it('allows local sockets, IP sockets, and the netlink sockets that report addresses', async () => {
    const allowed = (await rulesFor('socket')).map(({ args }) =>
      args!.map(({ index, value, op }) => [index, value, op]),
    );
    const is = (index: number, value: number) => [index, value, 'SCMP_CMP_EQ'];
    const [UNIX, INET, INET6, NETLINK, ROUTE] = [1, 2, 10, 16, 0];
    assert.deepEqual(allowed, [[is(0, UNIX)], [is(0, INET)], [is(0, INET6)], [is(0, NETLINK), is(2, ROUTE)]]);
  });
});
