import assert from 'node:assert/strict';
import { eventually } from '../support/eventually.ts';
import { openKafkaService, SHORT_LEASE, type TestService } from '../support/service.ts';
import { openShop, type Shop, sell } from './support/billing.ts';
import { RULES_FILE, readDashboards, withoutVariables } from './support/dashboards.ts';
import { runLoad } from './support/load.ts';
import { type ManagedPool, managePool } from './support/pool.ts';
import { allAreScraped, startPrometheus, type TestPrometheus } from './support/prometheus.ts';

/** Seconds; the scrapes are one apart. */
const RATE_INTERVAL = 10;
const STEP = 1;

describe('the running system under Prometheus: api, workers and dispatcher over Kafka, and a controller', function () {
  this.timeout(600_000);
  let service: TestService;
  let shop: Shop;
  let prometheus: TestPrometheus;
  let pool: ManagedPool;
  const began = Date.now() / 1000;
  before(async () => {
    prometheus = await startPrometheus([RULES_FILE]);
    shop = await openShop();
    service = await openKafkaService({ ...SHORT_LEASE, ...shop.environment }, [
      'dispatcher',
      'worker-1',
      'worker-2',
      'api',
    ]);
    pool = await managePool(service, prometheus, { minReplicas: 2, maxReplicas: 3, slotsPerWorker: 2 });
    await allAreScraped(prometheus, service.roles.size + 1);
    await Promise.all([runLoad(service, 3), sell(service, shop)]);
  });
  after(async () => {
    await pool?.stop();
    await service?.stop();
    await shop?.close();
    await prometheus?.stop();
  });

  for (const dashboard of readDashboards()) {
    for (const { title, targets = [] } of dashboard.panels) {
      const expressions = targets.map(({ expr }) => withoutVariables(dashboard, expr, RATE_INTERVAL));
      if (expressions.length === 0) continue;
      it(`${dashboard.title}: ${title} shows a line`, async () => {
        for (const expression of expressions) {
          await eventually(`two points of ${expression}`, async () => {
            const series = await prometheus.range(expression, began, Date.now() / 1000, STEP);
            return series.some(({ points }) => points.length >= 2);
          });
        }
      });
    }
  }

  it('what an alert of billing waits for is counted from zero, or the first of it would be missed', async () => {
    const reported = await service.metrics();
    for (const [metric, label, values] of [
      ['platen_payment_events_total', 'outcome', ['refused', 'failed']],
      ['platen_billing_syncs_total', 'outcome', ['done', 'failed']],
      ['platen_billing_errors_total', 'kind', ['unclear', 'duplicate', 'refund', 'unproven', 'refused']],
      ['platen_mail_attempts_total', 'outcome', ['sent', 'retried', 'failed']],
    ] as const) {
      for (const value of values)
        assert.match(
          reported,
          new RegExp(`^${metric}\\{.*${label}="${value}".*\\} \\d`, 'm'),
          `${metric} ${value}`,
        );
    }
    assert.match(reported, /^platen_billing_reconcile_findings_total\{.*\} \d/m);
  });

  it('no alert fires after the load', async () => {
    // Chromium refuses its sandbox to root.
    const unsafe = /^platen_browser_sandboxed\{.*\} 0$/m.test(await service.metrics());
    const expected = unsafe ? 'PlatenSandboxOff' : '';
    let reported = '';
    const isCalm = async () => {
      const active = await prometheus.active();
      // Sweeps that run once a minute have not had their second run yet: told of only if that does not come for minutes.
      reported = active.filter((name) => name !== 'PlatenSweepsStuck').join();
      return reported === expected;
    };
    // A moment in which the machine stood still, or a process was just being looked at anew, is none to tell anybody of.
    await eventually('calm', isCalm).catch(() => assert.equal(reported, expected));
  });
});
