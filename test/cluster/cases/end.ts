import assert from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { type Release, VALUES } from '../support/release.ts';

const KEPT = 4321;

/** What `helm uninstall` takes, and what it leaves. */
export function describeEnd(release: () => Release): void {
  describe('uninstalled', () => {
    it('leaves definitions, plans, pools and data, and has them all when it is installed again', async () => {
      const client = await release().openAccount('business');
      const id = await client.order({ html: '<p>kept</p>' });
      assert.equal((await client.end(id)).status, 'completed');
      const patch = JSON.stringify({ spec: { monthlyRenders: KEPT } });
      await release().kubectl('patch', 'renderplan', 'starter', '--type=merge', '--patch', patch);

      await release().helm('uninstall', 'platen', '--wait', '--timeout', '3m');
      for (const role of ['api', 'dispatcher', 'controller']) {
        await eventually(`no ${role}`, async () => (await release().pods(role)).length === 0, 60_000);
      }
      const definitions = await release().kubectl('get', 'crds', '-o', 'name');
      assert.match(definitions, /renderplans\.platen\.dev/);
      assert.match(definitions, /renderpools\.platen\.dev/);
      const field = ['-o', 'jsonpath={.spec.monthlyRenders}'];
      const limit = () => release().kubectl('get', 'renderplan', 'starter', ...field);
      assert.equal(await limit(), String(KEPT));
      assert.match(await release().kubectl('get', 'renderpools', '-o', 'name'), /\/default/);

      await release().install(VALUES);
      assert.equal(await limit(), String(KEPT));
      const again = release().at(client);
      assert.equal((await again.call('GET', `/v1/pdf/jobs/${id}`)).json.status, 'completed');
      assert.equal((await again.render({ html: '<p>again</p>' })).status, 200);
    });
  });
}
