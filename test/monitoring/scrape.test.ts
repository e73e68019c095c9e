import assert from 'node:assert/strict';
import { eventually } from '../support/eventually.ts';
import { openKafkaService, type TestService } from '../support/service.ts';
import { RULES_FILE, readDashboards, withoutVariables } from './support/dashboards.ts';
import { runLoad } from './support/load.ts';
import { startPrometheus, type TestPrometheus } from './support/prometheus.ts';

/** Seconds; the scrapes are one apart. */
const RATE_INTERVAL = 10;
const STEP = 1;

describe('the running system under Prometheus: api, two workers and a dispatcher over Kafka', function () {
  this.timeout(240_000);
  let service: TestService;
  let prometheus: TestPrometheus;
  const began = Date.now() / 1000;
  before(async () => {
    prometheus = await startPrometheus([RULES_FILE]);
    service = await openKafkaService({}, ['dispatcher', 'worker-1', 'worker-2', 'api']);
    await prometheus.scrape([...service.roles].map(([pod, { url }]) => ({ pod, url })));
    // A rate needs two scrapes of what it is the rate of.
    await eventually('all of them are scraped', async () => {
      const now = Date.now() / 1000;
      const up = await prometheus.range('count(up == 1)', now - 2, now, STEP);
      return up.some(({ points }) => points.some(([, value]) => value === service.roles.size));
    });
    await runLoad(service, 3);
  });
  after(async () => {
    await service?.stop();
    await prometheus?.stop();
  });

  for (const dashboard of readDashboards()) {
    for (const panel of dashboard.panels.filter(({ targets }) => targets !== undefined)) {
      it(`${dashboard.title}: ${panel.title} shows a line`, async () => {
        for (const { expr, refId } of panel.targets!) {
          const expression = withoutVariables(dashboard, expr, RATE_INTERVAL);
          let most = 0;
          await eventually(
            `${refId} has two points: ${expression}`,
            async () => {
              const series = await prometheus.range(expression, began, Date.now() / 1000, STEP);
              most = Math.max(0, ...series.map(({ points }) => points.length));
              return most >= 2;
            },
            15_000,
          );
        }
      });
    }
  }

  it('no alert fires that has nothing to tell', async () => {
    assert.deepEqual(await prometheus.firing(), []);
  });
});
