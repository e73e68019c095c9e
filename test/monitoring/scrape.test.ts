import assert from 'node:assert/strict';
import { eventually } from '../support/eventually.ts';
import { openKafkaService, type TestService } from '../support/service.ts';
import { RULES_FILE, readDashboards, withoutVariables } from './support/dashboards.ts';
import { runLoad } from './support/load.ts';
import { allAreScraped, startPrometheus, type TestPrometheus } from './support/prometheus.ts';

/** Seconds; the scrapes are one apart. */
const RATE_INTERVAL = 10;
const STEP = 1;
/** What a controller measures, and these roles do not. */
const OF_THE_CONTROLLER =
  /platen_(leader|demand_age|watch_age|kubernetes_calls|reconcile|wrong_victims|pool_(hold|scale|(\w+_)?replicas))/;
const NOT_YET = /platen_browser_sandboxed/;

describe('the running system under Prometheus: api, two workers and a dispatcher over Kafka', function () {
  this.timeout(240_000);
  let service: TestService;
  let prometheus: TestPrometheus;
  const began = Date.now() / 1000;
  before(async () => {
    prometheus = await startPrometheus([RULES_FILE]);
    service = await openKafkaService({}, ['dispatcher', 'worker-1', 'worker-2', 'api']);
    await prometheus.scrape([...service.roles].map(([pod, { url }]) => ({ pod, url })));
    await allAreScraped(prometheus, service.roles.size);
    await runLoad(service, 3);
  });
  after(async () => {
    await service?.stop();
    await prometheus?.stop();
  });

  for (const dashboard of readDashboards()) {
    for (const { title, targets = [] } of dashboard.panels) {
      const expressions = targets
        .map(({ expr }) => withoutVariables(dashboard, expr, RATE_INTERVAL))
        .filter((expression) => !OF_THE_CONTROLLER.test(expression) && !NOT_YET.test(expression));
      if (expressions.length === 0) continue;
      it(`${dashboard.title}: ${title} shows a line`, async () => {
        for (const expression of expressions) {
          await eventually(
            `two points of ${expression}`,
            async () => {
              const series = await prometheus.range(expression, began, Date.now() / 1000, STEP);
              return series.some(({ points }) => points.length >= 2);
            },
            5000,
          );
        }
      });
    }
  }

  it('afterwards no alert has anything to tell but that there is no controller', async () => {
    const active = await prometheus.active();
    // Sweeps that run once a minute have not had their second run yet: told of only if that does not come for minutes.
    assert.deepEqual(
      active.filter((name) => name !== 'PlatenSweepsStuck'),
      ['PlatenNoLeader'],
    );
  });
});
