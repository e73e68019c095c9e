/**
 * Batches on standalone with the embedded database:
 *
 *    throughput   items a second of one batch ÷ raw puppeteer with pages that are reused for ever, taken before and after
 *    fairness     single renders of another account, 95th percentile, while a batch runs ÷ before it
 *    accepting    time until a batch is answered for, 95th percentile, while those before it run
 *
 * BENCH_ITEMS (default 1000): items of a batch. BENCH_SECONDS (default 6): how long raw puppeteer and the callers of the
 * fairness part run. BENCH_ONLY: names of parts, comma-separated. A batch of 10,000: large-batch.ts; its files:
 * batch-files.ts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  cancel,
  clientOf,
  newTenant,
  openBatchService,
  percentile95,
  stateOf,
  submitBatch,
  type Tenant,
  untilEnded,
  verdict,
} from './batch-service.ts';
import { watchCpu } from './cpu.ts';
import { DOCUMENTS, PRINT } from './documents.ts';
import { median, runLoad } from './load.ts';
import { highest, mebibytes, PROCESS_KINDS, type Sample, watchOverTime } from './memory-over-time.ts';
import { openRaw } from './subjects.ts';

const ITEMS = Number(process.env.BENCH_ITEMS ?? 1000);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 6);
const RAW_CALLERS = 4;
const ACCEPTED = 20;
const EXPANDS_MS = 1500;
const CALLERS = [1, 4];
const WANTED = { throughput: 0.9, acceptMs: 400, fairness: 1.5 };
const invoice = DOCUMENTS[0]!;

const service = await openBatchService(ITEMS);
const { role } = service;
try {
  const tenant = await newTenant(service, 'batches', invoice.html);
  const other = await newTenant(service, 'others', invoice.html);
  const measurements = {
    throughput: () => throughput(tenant),
    fairness: () => fairness(tenant, other),
    accepting: () => accepting(tenant),
  };
  const only = process.env.BENCH_ONLY?.split(',');
  for (const [name, measure] of Object.entries(measurements))
    if (only?.includes(name) ?? true) await measure();
} finally {
  await service.close();
}
process.exit(0);

/** One batch, from its answer to its end. What an item costs of the processor says something on a busy machine, too. */
async function throughput(tenant: Tenant): Promise<void> {
  console.log(`\nItems a second of a batch of ${ITEMS}`);
  const raw = await openRaw();
  const reused = raw.subject('reuse', 'r');
  const [pid] = reused.pids as [number];
  const limit = async () => {
    const cpu = watchCpu({ node: { pid }, Chromium: { below: pid } });
    const { perSecond, count } = await reused.run(invoice, RAW_CALLERS, SECONDS * 1000);
    return { perSecond, cpuMs: (cpu.stop().seconds / count) * 1000 };
  };
  await limit();
  await untilEnded(service, tenant, await submitBatch(service, tenant, Math.ceil(ITEMS / 10)));
  const before = await limit();
  const cpu = watchCpu({ node: { pid: role.pid }, 'its children': { below: role.pid } });
  const memory = watchOverTime(role.pid);
  const batchId = await submitBatch(service, tenant, ITEMS);
  const began = performance.now();
  const { failed } = (await untilEnded(service, tenant, batchId)).progress;
  const perSecond = ITEMS / ((performance.now() - began) / 1000);
  if (failed > 0) throw new Error(`${failed} items have failed`);
  const used = cpu.stop();
  const samples = memory.stop();
  const after = await limit();
  await raw.close();
  const ratio = perSecond / ((before.perSecond + after.perSecond) / 2);
  const cpuMs = (used.seconds / ITEMS) * 1000;
  const rawMs = (before.cpuMs + after.cpuMs) / 2;
  console.log(`  ${perSecond.toFixed(1)}/s (${used.text})`);
  console.log(
    `  (r) ${before.perSecond.toFixed(1)} before, ${after.perSecond.toFixed(1)} after: ${ratio.toFixed(2)}, wanted ≥ ${WANTED.throughput}: ${verdict(ratio >= WANTED.throughput)}`,
  );
  console.log(
    `  processor time of an item ${cpuMs.toFixed(1)} ms, of (r) ${rawMs.toFixed(1)} ms: ${(rawMs / cpuMs).toFixed(2)}`,
  );
  console.log(`  peak memory: ${memoryText(samples)}`);
}

/** The last part: what it leaves is not waited for. */
async function accepting(tenant: Tenant): Promise<void> {
  console.log(`\nTime until a batch of ${ITEMS} is answered for, ${ACCEPTED} times`);
  const took: number[] = [];
  for (let i = 0; i < ACCEPTED; i += 1) {
    const began = performance.now();
    await submitBatch(service, tenant, ITEMS);
    took.push(performance.now() - began);
    // Its jobs are being written.
    await sleep(EXPANDS_MS);
  }
  took.sort((a, b) => a - b);
  const p95 = percentile95(took);
  console.log(
    `  median ${median(took).toFixed(0)} ms, p95 ${p95.toFixed(0)} ms, wanted ≤ ${WANTED.acceptMs}: ${verdict(p95 <= WANTED.acceptMs)}`,
  );
}

async function fairness(tenant: Tenant, other: Tenant): Promise<void> {
  console.log(`\nSingle renders of another account while a batch of ${ITEMS} runs`);
  const singles = (callers: number) =>
    runLoad(callers, SECONDS * 1000, async () => {
      const response = await clientOf(service, other).render({ html: invoice.html, options: PRINT });
      if (response.status !== 200) throw new Error(`${response.status}`);
    });
  await singles(1);
  for (const callers of CALLERS) {
    const before = await singles(callers);
    const batchId = await submitBatch(service, tenant, ITEMS);
    await sleep(2000);
    const { completed } = (await stateOf(service, tenant, batchId)).progress;
    const concurrent = await singles(callers);
    const items = (await stateOf(service, tenant, batchId)).progress.completed - completed;
    await cancel(service, tenant, batchId);
    const after = await singles(callers);
    const ratio = concurrent.p95 / ((before.p95 + after.p95) / 2);
    console.log(
      `  ${callers} at a time: p95 ${before.p95.toFixed(0)} before, ${concurrent.p95.toFixed(0)} beside it, ${after.p95.toFixed(0)} after: ${ratio.toFixed(2)}, wanted ≤ ${WANTED.fairness}: ${verdict(ratio <= WANTED.fairness)}; ${(items / SECONDS).toFixed(1)} items a second meanwhile`,
    );
  }
}

function memoryText(samples: readonly Sample[]): string {
  return PROCESS_KINDS.map((part) => `${part} ${mebibytes(highest(samples, part))}`).join(', ');
}
