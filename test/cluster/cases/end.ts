import assert from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { type Release, VALUES } from '../support/release.ts';

const KEPT = 4321;
/**
 * What is installed the second time: Chromium has its sandbox, by a profile that the chart puts on the nodes, and processes
 * run as users that nobody knows, of the group 0, as OpenShift has it.
 */
export const SANDBOXED = {
  ...VALUES,
  worker: { sandbox: { installProfile: true } },
  podSecurityContext: {
    ...{ runAsNonRoot: true, runAsUser: 1_000_730_000, runAsGroup: 0 },
    seccompProfile: { type: 'RuntimeDefault' },
  },
};

/** What `helm uninstall` takes, and what it leaves. */
export function describeEnd(release: () => Release): void {
  describe('uninstalled', () => {
    it('leaves definitions, plans, pools and data, and has them all when it is installed again, by Helm 4', async () => {
      const client = await release().openAccount('business');
      const id = await client.order({ html: '<p>kept</p>' });
      assert.equal((await client.end(id)).status, 'completed');
      const patch = JSON.stringify({ spec: { monthlyRenders: KEPT } });
      await release().kubectl('patch', 'renderplan', 'starter', '--type=merge', '--patch', patch);

      await uninstall(release());
      const field = ['-o', 'jsonpath={.spec.monthlyRenders}'];
      const limit = () => release().kubectl('get', 'renderplan', 'starter', ...field);
      assert.equal(await limit(), String(KEPT));
      assert.match(await release().kubectl('get', 'renderpools', '-o', 'name'), /\/default/);

      await installSandboxed(release());
      assert.equal(await limit(), String(KEPT));
      const again = release().at(client);
      assert.equal((await again.call('GET', `/v1/pdf/jobs/${id}`)).json.status, 'completed');
      assert.equal((await again.render({ html: '<p>again</p>' })).status, 200);
    });
  });
}

/** Uninstalls, until what takes orders is gone; the definitions stay. */
export async function uninstall(release: Release): Promise<void> {
  await release.helm('uninstall', 'platen', '--wait', '--timeout', '3m');
  for (const role of ['api', 'dispatcher', 'controller']) {
    await eventually(`no ${role}`, async () => (await release.pods(role)).length === 0, 60_000);
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
