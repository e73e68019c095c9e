import assert from 'node:assert/strict';
import { openSweeps } from '../../../src/roles/dispatcher.ts';
import { startMongo } from '../../support/mongo.ts';
import { openApi, type TestApi } from '../http/support/api.ts';

/** Of the plans, by a dispatcher over Kafka: one query in 15 seconds. */
const PLANS_A_SECOND = 1 / 15;

describe('A dispatcher at rest', () => {
  let api: TestApi;
  before(async () => {
    const { uri } = await startMongo();
    api = await openApi({ uri: `${uri}${uri.includes('?') ? '&' : '?'}monitorCommands=true` });
  });
  after(() => api.close());

  it('asks the database less than once a second, in all', async () => {
    const { core, services } = api;
    let active = 0;
    const { sweeps } = openSweeps({ ...core, role: 'dispatcher' }, services, () => {
      active += 1;
    });
    let queries = 0;
    core.connection.getClient().on('commandStarted', () => {
      queries += 1;
    });
    const rates: Record<string, number> = { plans: PLANS_A_SECOND };
    for (const { name, everyMs, atRestMs = everyMs, run } of sweeps) {
      queries = 0;
      await run();
      rates[name] = queries / (atRestMs / 1000);
    }
    assert.equal(active, 0);
    const all = Object.values(rates).reduce((sum, rate) => sum + rate, 0);
    assert.ok(all < 1, JSON.stringify({ all, ...rates }, null, 2));
    assert.ok(rates.demand! > 0 && rates['named-jobs']! > 0);
  });
});
