import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BatchService,
  chargedTo,
  clientOf,
  newTenant,
  openBatchService,
  percentile95,
  stateOf,
  type Tenant,
  untilEnded,
  verdict,
} from '../bench/batch-service.ts';
import { treeMemory } from '../support/tree-memory.ts';

/*
 * Of `make soak`: one batch of SOAK_ROWS rows (default 100,000) in a standalone that is killed SOAK_KILLS times (default 5),
 * beside a neighbour who renders a document each second. 100,000 rows may take 30 minutes on two cores.
 */
const ROWS = Number(process.env.SOAK_ROWS ?? 100_000);
const KILLS = Number(process.env.SOAK_KILLS ?? 5);
/** PDFs a second, the neighbour's p95 beside the batch as a part of its p95 alone, and memory at the end as one of memory at the beginning. */
const WANTED = { rate: 100_000 / 1800, p95: 1.5, memory: 1.2 };
const ALONE_MS = 30_000;
const EVERY_MS = 1000;
const SAMPLE_MS = 5000;
const DOCUMENT = '<h1>Invoice</h1><table><tr><td>Work<td>100.00<tr><td>Travel<td>20.00</table>';

/** Renders a document each second until it is stopped. */
class Neighbour {
  readonly #times: number[] = [];
  #stopped = false;
  readonly #over: Promise<void>;

  constructor(service: BatchService, tenant: Tenant) {
    this.#over = this.#run(service, tenant);
  }

  async #run(service: BatchService, tenant: Tenant): Promise<void> {
    while (!this.#stopped) {
      const began = performance.now();
      const reply = await clientOf(service, tenant)
        .call('POST', '/v1/pdf', { html: DOCUMENT })
        .catch(() => undefined);
      // While the service is down nobody waits for it.
      if (reply?.status === 200) this.#times.push(performance.now() - began);
      await sleep(Math.max(0, EVERY_MS - (performance.now() - began)));
    }
  }

  async p95(): Promise<number> {
    this.#stopped = true;
    await this.#over;
    return percentile95(this.#times.toSorted((a, b) => a - b));
  }
}

const service = await openBatchService(ROWS);
const memory: number[] = [];
try {
  const tenant = await newTenant(service, 'lists', DOCUMENT);
  const beside = await newTenant(service, 'neighbour', DOCUMENT);
  await sleep(5000);
  const before = new Neighbour(service, beside);
  await sleep(ALONE_MS);
  const alone = await before.p95();

  const file = `id,number\n${Array.from({ length: ROWS }, (_, i) => `row-${i},${i}`).join('\n')}\n`;
  const client = clientOf(service, tenant);
  const sent = await client.call('POST', '/v1/pdf/batch/uploads', file, { 'content-type': 'text/csv' });
  const source = { upload: sent.json.id, format: 'csv', templateId: tenant.templateId };
  const accepted = await client.call('POST', '/v1/pdf/batch', { source });
  if (accepted.status !== 202) throw new Error(Buffer.from(accepted.bytes).toString());
  const { jobId } = accepted.json;
  const began = performance.now();
  const neighbour = new Neighbour(service, beside);
  let downMs = 0;
  for (let kill = 1, sampledAt = 0; ; await sleep(250)) {
    const { progress, finishedAt } = await stateOf(service, tenant, jobId);
    if (finishedAt !== null) break;
    if (performance.now() - sampledAt > SAMPLE_MS) {
      memory.push(treeMemory([service.role.pid]) / 1024 / 1024);
      sampledAt = performance.now();
    }
    if (kill > KILLS || progress.completed < (kill * ROWS) / (KILLS + 1)) continue;
    kill += 1;
    const downSince = performance.now();
    await service.role.end('SIGKILL');
    await service.restart();
    downMs += performance.now() - downSince;
    console.log(`killed after ${progress.completed} rows`);
  }
  const seconds = (performance.now() - began - downMs) / 1000;
  const p95 = await neighbour.p95();
  const { progress } = await untilEnded(service, tenant, jobId);
  const charged = await chargedTo(service, tenant);
  const [rate, ratio] = [progress.completed / seconds, p95 / alone];
  // Without the first samples, in which processes are still being started.
  const settled = memory.slice(Math.floor(memory.length / 5));
  const quarter = Math.max(1, Math.floor(settled.length / 4));
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const growth = mean(settled.slice(-quarter)) / mean(settled.slice(0, quarter));
  console.log(
    [
      `${ROWS} rows: ${progress.completed} completed, ${progress.failed} failed; ${charged} charged: ${verdict(progress.completed === ROWS && charged === ROWS)}`,
      `${rate.toFixed(1)} PDFs a second while it was up, wanted ${WANTED.rate.toFixed(1)} on two cores: ${verdict(rate >= WANTED.rate)}`,
      `neighbour's p95 ${ratio.toFixed(2)} × (${alone.toFixed(0)} ms alone, ${p95.toFixed(0)} ms beside it), wanted ≤ ${WANTED.p95}: ${verdict(ratio <= WANTED.p95)}`,
      `memory ${growth.toFixed(2)} × (${mean(settled).toFixed(0)} MiB), wanted ≤ ${WANTED.memory}: ${verdict(growth <= WANTED.memory)}`,
    ].join('\n'),
  );
} finally {
  await service.close();
}
