import assert from 'node:assert/strict';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { runLines } from '../../support/kubernetes/shell.ts';
import { shellBlocks } from '../../support/markdown.ts';
import { readPdf } from '../../support/pdf.ts';
import { CHART, HUNG_MS, Release, type Tenant, VALUES } from '../support/release.ts';

const KEPT = 4321;
/**
 * The values of the second installation: Chromium has its sandbox, by a profile that the chart puts on the nodes, and
 * processes run as unknown users of the group 0, as on OpenShift.
 */
export const SANDBOXED = {
  ...VALUES,
  worker: { sandbox: { installProfile: true } },
  podSecurityContext: {
    ...{ runAsNonRoot: true, runAsUser: 1_000_730_000, runAsGroup: 0 },
    seccompProfile: { type: 'RuntimeDefault' },
  },
};

/** What `helm uninstall` removes and what it leaves: of this release, and of another one in the cluster. */
export function describeEnd(release: () => Release): void {
  describe('with a release in another namespace, of another version of the chart', () => {
    let other: Release;
    let others: Tenant;
    before(async () => {
      const { cluster, peers } = release();
      const chart = await nextVersion(cluster.folder);
      other = new Release(cluster, peers, 'helm4', { namespace: 'platen-next', chart, data: 'next' });
      await other.install(VALUES);
      others = await other.openAccount('business');
    });

    it('renders, and so does the other release', async () => {
      assert.notEqual(await chartOf(release()), await chartOf(other));
      await assertRenders(await release().openAccount('business'), 'by the first');
      await assertRenders(others, 'by the other');
    });

    it('leaves definitions, plans, pools and data when it is uninstalled, and uses them when Helm 4 installs it again', async () => {
      const client = await release().openAccount('business');
      const id = await client.submit({ html: '<p>kept</p>' });
      assert.equal((await client.end(id)).status, 'completed');
      const patch = JSON.stringify({ spec: { monthlyRenders: KEPT } });
      await release().kubectl('patch', 'renderplan', 'starter', '--type=merge', '--patch', patch);

      await uninstall(release());
      const field = ['-o', 'jsonpath={.spec.monthlyRenders}'];
      const limit = () => release().kubectl('get', 'renderplan', 'starter', ...field);
      assert.equal(await limit(), String(KEPT));
      assert.match(await release().kubectl('get', 'renderpools', '-o', 'name'), /\/default/);
      await assertRenders(others, 'by the other alone');

      await installSandboxed(release());
      assert.equal(await limit(), String(KEPT));
      const again = release().at(client);
      assert.equal((await again.call('GET', `/v1/pdf/jobs/${id}`)).json.status, 'completed');
      assert.equal((await again.render({ html: '<p>again</p>' })).status, 200);
    });

    it('stays when the namespace of the other one is deleted, with everything in it and accounts on its plans', async () => {
      const { kubectl } = release().cluster.plane;
      await kubectl('delete', 'namespace', other.target.namespace, '--wait=false');
      await kubectl('wait', '--for=delete', `namespace/${other.target.namespace}`, '--timeout=120s');
      await assertRenders(await release().openAccount('business'), 'by the first alone');
    });
  });
}

/** The end of all: what docs/install.md says about it, word for word. */
export function describeTakingAway(release: () => Release): void {
  describe('removed by the commands of docs/install.md', () => {
    let lines: string[];
    before(async () => {
      lines = await shellBlocks('install.md', '### Taking it away');
    });
    const run = (block: number) =>
      runLines(lines[block]!, release().cluster.plane, release().target.namespace, 'helm4');

    it('is gone with everything on the nodes but the profile; plans stay', async () => {
      await run(0);
      const { kubectl } = release().cluster.plane;
      const installers = async () => (await kubectl('get', 'daemonsets', '-A', '-o', 'name')).trim();
      await eventually('no installer', async () => (await installers()) === '', HUNG_MS);
      const kinds = 'all,networkpolicies,poddisruptionbudgets,configmaps';
      const left = async () => {
        const names = await release().kubectl(
          'get',
          kinds,
          '-l',
          'app.kubernetes.io/name=platen',
          '-o',
          'name',
        );
        return names.trim();
      };
      await eventually('nothing is left', async () => (await left()) === '', HUNG_MS).catch(async (error) => {
        throw new Error(`${error.message}: ${await left()}`);
      });
      assert.match(
        await release().kubectl('get', 'renderplans', '-o', 'name'),
        /renderplan\.platen\.dev\/starter/,
      );
    });

    it('is gone with its definitions and the plans that accounts are on, and so is its namespace', async () => {
      await run(1);
      const { kubectl } = release().cluster.plane;
      const definitions = ['crd/renderplans.platen.dev', 'crd/renderpools.platen.dev'];
      await kubectl('wait', '--for=delete', ...definitions, '--timeout=60s');
      const { namespace } = release().target;
      await kubectl('delete', 'namespace', namespace, '--wait=false');
      await kubectl('wait', '--for=delete', `namespace/${namespace}`, '--timeout=120s');
    });
  });
}

/** A copy of the chart, of another version. @returns its folder. */
async function nextVersion(folder: string): Promise<string> {
  const chart = join(folder, 'next-chart');
  await cp(CHART, chart, { recursive: true });
  const file = join(chart, 'Chart.yaml');
  await writeFile(file, (await readFile(file, 'utf8')).replace(/^version: .*$/m, 'version: 9.9.9'));
  return chart;
}

/** Name and version of the chart that a release was made from. */
function chartOf(release: Release): Promise<string> {
  return release.kubectl('get', 'deployment/platen-api', '-o', 'jsonpath={.metadata.labels.helm\\.sh/chart}');
}

async function assertRenders(client: Tenant, words: string): Promise<void> {
  const response = await client.render({ html: `<h1>${words}</h1>` });
  assert.equal(response.status, 200, Buffer.from(response.bytes).toString().slice(0, 500));
  assert.equal((await readPdf(response.bytes)).text.trim(), words);
}

/** Uninstalls the release, and waits until the API is gone; the definitions stay. */
export async function uninstall(release: Release): Promise<void> {
  await release.helm('uninstall', 'platen', '--wait', '--timeout', '5m');
  for (const role of ['api', 'dispatcher', 'controller']) {
    await eventually(`no ${role}`, async () => (await release.pods(role)).length === 0, HUNG_MS);
  }
  const definitions = await release.kubectl('get', 'crds', '-o', 'name');
  assert.match(definitions, /renderplans\.platen\.dev/);
  assert.match(definitions, /renderpools\.platen\.dev/);
}

/** By Helm 4, where nothing is installed. The pool that was kept is the operator's to change, as docs/production.md says. */
export async function installSandboxed(release: Release): Promise<void> {
  release.useHelm('helm4');
  const required = JSON.stringify({ spec: { sandbox: 'required' } });
  await release.kubectl('patch', 'renderpool', 'default', '--type=merge', '--patch', required);
  await release.install(SANDBOXED);
}
