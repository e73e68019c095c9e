import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { readPdf } from '../../support/pdf.ts';
import { procFile } from '../../support/processes.ts';
import { NEXT_TAG, type Pod, QUICK_POOL, type Release, TAG } from '../support/release.ts';
import { installSandboxed, SANDBOXED, uninstall } from './end.ts';
import { assertUnnoticed } from './upgrades.ts';

const LABEL = 'platen.dev/seccomp-profile';
const PROFILE = new URL('../../../charts/platen/files/seccomp-profile.json', import.meta.url);
/** Where the installer of the profile runs. */
const SETUP = 'platen-node-setup';
const ROLLED_OUT_MS = 120_000;
/** A pool for the node that joins. */
const FRESH = 'fresh';
const OF_FRESH = `,platen.dev/pool=${FRESH}`;
/** From the start of the node's programs until a worker stands on it, and from the profile until that is ready: each some 15 s. */
const JOINED_MS = 120_000;

/** Chromium's sandbox in pods, and the life of a release by Helm 4: it is the second installation. */
export function describeSandbox(release: () => Release): void {
  describe('installed by Helm 4, with the seccomp profile on the nodes', () => {
    /** Of every node, the name of the profile that it is labelled with. */
    let labels: string[];
    before(async () => {
      if (release().helmVersion === 'helm4') return;
      await uninstall(release());
      await installSandboxed(release());
    });

    it('has the profile put on each node, which gets its label after that', async () => {
      const find = async () => {
        const { items } = await release().get<{ items: Labelled[] }>('nodes');
        labels = items.flatMap(({ metadata }) => metadata.labels[LABEL] ?? []);
        return labels.length === release().cluster.nodes.length;
      };
      await eventually('a label on each node', find, 30_000);
      for (const label of labels) {
        assert.match(label, /^sandbox-[0-9a-f]{12}$/);
        const file = join(release().cluster.seccompFolder, 'platen', `${label}.json`);
        assert.deepEqual(
          JSON.parse(await readFile(file, 'utf8')),
          JSON.parse(await readFile(PROFILE, 'utf8')),
        );
      }
      const installers = await release().kubectl(
        ...['get', 'daemonset', '--namespace', SETUP, '-o', 'jsonpath={.items[*].status.numberReady}'],
      );
      assert.equal(installers, '2');
    });

    it('has workers that require the sandbox, start under the profile, and render in it', async () => {
      await eventually('all workers under the profile', () => allSandboxed(release()), ROLLED_OUT_MS);
      const workers = await release().readyPods('worker');
      for (const { spec } of workers) {
        const { localhostProfile } = spec.securityContext?.seccompProfile ?? {};
        assert.ok(labels.map((label) => `platen/${label}.json`).includes(localhostProfile ?? ''));
        const { value } = spec.containers[0]?.env?.find(({ name }) => name === 'PLATEN_SANDBOX') ?? {};
        assert.equal(value, 'required');
      }
      const client = await release().openAccount('free');
      const response = await client.render({ html: '<h1>In the sandbox</h1>' });
      assert.equal(response.status, 200, Buffer.from(response.bytes).toString().slice(0, 500));
      assert.equal((await readPdf(response.bytes)).text.trim(), 'In the sandbox');
    });

    it("reports the sandbox in the metric and in the pool's condition, and the kernel confirms it", async () => {
      const workers = await release().readyPods('worker');
      assert.equal(await release().metric('platen_browser_sandboxed', workers), workers.length);
      const query = '-o=jsonpath={.status.conditions[?(@.type=="Sandboxed")].reason}';
      const reason = () => release().kubectl('get', 'renderpool', 'default', query);
      await eventually('the condition', async () => (await reason()) === 'WorkersSandboxed', 30_000);
      for (const worker of workers) {
        const { browsers, renderers } = depths(release(), worker);
        assert.ok(renderers.length > 0, 'a page has a process');
        // In pid namespaces of their own, below that of the container.
        assert.ok(Math.min(...renderers) > Math.max(...browsers), `${renderers} below ${browsers}`);
      }
    });

    it('passes helm test by Helm 4', async () => {
      await release().helm('test', 'platen', '--timeout', '3m');
    });

    for (const [what, act, tag] of [
      ['helm upgrade', () => release().upgrade({ ...SANDBOXED, image: { tag: NEXT_TAG } }), NEXT_TAG],
      ['helm rollback', () => release().helm('rollback', 'platen', '--wait', '--timeout', '3m'), TAG],
    ] as const) {
      it(`fails no request under ${what} by Helm 4, and stays in the sandbox`, async () => {
        await assertUnnoticed(release(), act, tag);
        const workers = await release().pods('worker');
        assert.ok(workers.length > 0 && workers.every(isSandboxed));
      });
    }

    it('runs a worker on a node that joined while it waited, without label and profile', async () => {
      const { cluster } = release();
      const joins = cluster.nodes.find(({ name }) => name === 'node-b')!;
      const { plane } = cluster;
      const installerOn = async (node: string) => {
        const [name] = (await release().kubectl('get', 'daemonset', '-n', SETUP, '-o', 'name')).split('\n');
        const patch = { spec: { template: { spec: { nodeSelector: on(node) } } } };
        await release().kubectl('patch', name!, '-n', SETUP, '--patch', JSON.stringify(patch));
      };
      // Nowhere at first: nodes share a folder here, and the installer of any would put the profile there.
      await installerOn('nowhere');
      const installers = () => release().kubectl('get', 'pods', '-n', SETUP, '-o', 'name');
      await eventually('no installer', async () => (await installers()).trim() === '', 60_000);
      await plane.kubectl('cordon', joins.name);
      const fresh = { ...QUICK_POOL, minReplicas: 1, nodeSelector: on(joins.name), sandbox: 'required' };
      await release().apply({
        ...{ apiVersion: 'platen.dev/v1alpha1', kind: 'RenderPool' },
        ...{ metadata: { name: FRESH }, spec: fresh },
      });
      try {
        await eventually('a worker that waits for a node', () => isUnschedulable(release()), 60_000);
        try {
          await joins.cutPower();
          await plane.kubectl('delete', 'node', joins.name);
          await rm(join(cluster.seccompFolder, 'platen'), { recursive: true });
        } finally {
          await joins.boot();
        }
        // As an autoscaler foresees: it fits on a node that has neither.
        await eventually('a worker that the kubelet refuses', () => isRefused(release()), JOINED_MS);
        await installerOn(joins.name);
        await release().hasPods('worker', 1, JOINED_MS, OF_FRESH);
        const [worker] = await release().pods('worker', OF_FRESH);
        assert.equal(worker!.spec.nodeName, joins.name);
        assert.ok(isSandboxed(worker!));
        assert.deepEqual(await usersOf(release(), worker!), ['1000730000']);
      } finally {
        await release().kubectl('delete', 'renderpool', FRESH, '--ignore-not-found');
        await plane.kubectl('uncordon', joins.name).catch(() => undefined);
      }
      for (const role of ['api', 'dispatcher', 'controller']) await release().hasPods(role, 1, 120_000);
    });
  });
}

interface Labelled {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
}

/** The node selector that places a pod on this node. */
function on(node: string): Readonly<Record<string, string>> {
  return { 'kubernetes.io/hostname': node };
}

/** The users that run the processes of a pod. */
async function usersOf(release: Release, pod: Pod): Promise<string[]> {
  const found = release.processesOf(pod).flatMap((pid) => {
    const [, uid] = /^Uid:\s*(\d+)/m.exec(procFile(pid, 'status')) ?? [];
    return uid ?? [];
  });
  return [...new Set(found)];
}

async function isUnschedulable(release: Release): Promise<boolean> {
  const pods = await release.pods('worker', OF_FRESH);
  return pods.some(({ status }) =>
    status.conditions?.some(({ type, status: value }) => type === 'PodScheduled' && value === 'False'),
  );
}

/** Whether a worker stands on a node that has no profile for it. */
async function isRefused(release: Release): Promise<boolean> {
  const waiting = '-o=jsonpath={.items[*].status.containerStatuses[*].state.waiting.reason}';
  const selector = `--selector=${OF_FRESH.slice(1)}`;
  return (await release.kubectl('get', 'pods', selector, waiting)).includes('CreateContainerError');
}

async function allSandboxed(release: Release): Promise<boolean> {
  const [all, ready] = [await release.pods('worker'), await release.readyPods('worker')];
  return ready.length > 0 && ready.length === all.length && all.every(isSandboxed);
}

function isSandboxed({ spec }: Pod): boolean {
  return spec.securityContext?.seccompProfile?.localhostProfile !== undefined;
}

/**
 * The number of pid namespaces of Chromium's processes in a pod: proc(5), NSpid. Processes that end meanwhile are left
 * out.
 */
function depths(release: Release, pod: Pod): { browsers: number[]; renderers: number[] } {
  const found = release.processesOf(pod).map((pid) => {
    const command = procFile(pid, 'cmdline');
    const [, type] = /--type=([\w-]+)/.exec(command) ?? [];
    const isBrowser = type === undefined && command.includes('--user-data-dir');
    const [, ids = ''] = /^NSpid:\s*(.+)$/m.exec(procFile(pid, 'status')) ?? [];
    return { isBrowser, type, depth: ids === '' ? 0 : ids.trim().split(/\s+/).length };
  });
  const there = found.filter(({ depth }) => depth > 0);
  return {
    browsers: there.filter(({ isBrowser }) => isBrowser).map(({ depth }) => depth),
    renderers: there.filter(({ type }) => type === 'renderer').map(({ depth }) => depth),
  };
}
