/**
 * Draws docs/dashboards/*.svg: all dashboards over a running system that is under a little load, from the queries of
 * their JSON and the answers of a real Prometheus.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startKafka } from '../support/kafka.ts';
import { stopMongo } from '../support/mongo.ts';
import { openKafkaService, SHORT_LEASE } from '../support/service.ts';
import { drawDashboard } from './drawing/dashboard.ts';
import { openShop, sell } from './support/billing.ts';
import { readDashboards, withoutVariables } from './support/dashboards.ts';
import { runLoad } from './support/load.ts';
import { managePool } from './support/pool.ts';
import { allAreScraped, startPrometheus, type TestPrometheus } from './support/prometheus.ts';

const DOCS = join(import.meta.dirname, '../../docs/dashboards');
const ROUNDS = 24;
/** Seconds. */
const RATE_INTERVAL = 15;
/** How long the bank takes to decide. */
const DISPUTED_MS = 30_000;
/** Points of a line. */
const POINTS = 240;

const prometheus = await startPrometheus();
const shop = await openShop();
const kafka = await startKafka();
const roles = ['dispatcher', 'worker-1', 'worker-2', 'api'];
const service = await openKafkaService({ ...SHORT_LEASE, ...shop.environment }, roles, kafka);
const pool = await managePool(service, prometheus, {
  minReplicas: 2,
  maxReplicas: 4,
  slotsPerWorker: 2,
  workerYoungSeconds: 5,
  scaleDown: { stabilisationSeconds: 15, maxPercent: 50, periodSeconds: 5 },
});
try {
  await allAreScraped(prometheus, service.roles.size + 1);
  const from = Date.now() / 1000;
  await Promise.all([runLoad(service, ROUNDS), sell(service, shop, DISPUTED_MS)]);
  // Until the pool is small again.
  await pause(40_000);
  await draw(prometheus, from, Date.now() / 1000);
} finally {
  await pool.stop();
  await service.stop();
  await kafka.stop();
  await shop.close();
  await prometheus.stop();
  await stopMongo();
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
