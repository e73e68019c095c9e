/**
 * Draws docs/dashboards/*.svg: both dashboards over a running system that is under a little load, from the queries of
 * their JSON and the answers of a real Prometheus.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openKafkaService } from '../support/service.ts';
import { drawDashboard } from './drawing/dashboard.ts';
import { readDashboards, withoutVariables } from './support/dashboards.ts';
import { runLoad } from './support/load.ts';
import { allAreScraped, startPrometheus, type TestPrometheus } from './support/prometheus.ts';

const DOCS = join(import.meta.dirname, '../../docs/dashboards');
const ROUNDS = 24;
/** Seconds. */
const RATE_INTERVAL = 15;
/** Points of a line. */
const POINTS = 240;

const prometheus = await startPrometheus();
const service = await openKafkaService({}, ['dispatcher', 'worker-1', 'worker-2', 'api']);
try {
  await prometheus.scrape([...service.roles].map(([pod, { url }]) => ({ pod, url })));
  await allAreScraped(prometheus, service.roles.size);
  const from = Date.now() / 1000;
  await runLoad(service, ROUNDS);
  await draw(prometheus, from, Date.now() / 1000);
} finally {
  await service.stop();
  await prometheus.stop();
}

async function draw(from: TestPrometheus, since: number, until: number): Promise<void> {
  for (const dashboard of readDashboards()) {
    const picture = await drawDashboard(dashboard, { since, until }, (expression) =>
      from.range(
        withoutVariables(dashboard, expression, RATE_INTERVAL),
        since,
        until,
        Math.max(1, Math.round((until - since) / POINTS)),
      ),
    );
    await writeFile(join(DOCS, `${dashboard.name}.svg`), picture);
  }
}
