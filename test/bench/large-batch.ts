/**
 * One batch of 10,000 invoices on standalone with the embedded database, from its order to its end:
 *
 *    memory     of each process, in the last third of the run beside the first
 *    progress   read all the while, 95th percentile
 *    cancel     of another such batch, from the request to the end of its last item
 *
 * BENCH_ITEMS (default 10000): items of a batch. Alone: `BENCH_PART=large-batch make bench`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BatchService,
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
import { DOCUMENTS } from './documents.ts';
import { watchHealth } from './health.ts';
import { median } from './load.ts';
import { mebibytes, PROCESS_KINDS, tenths, thirds, watchOverTime } from './memory-over-time.ts';

const ITEMS = Number(process.env.BENCH_ITEMS ?? 10_000);
/** Of a batch before, by which everything is compiled, and every page and process made. */
const WARM_UP_ITEMS = Math.ceil(ITEMS / 10);
const READ_EVERY_MS = 200;
const CANCEL_AFTER_MS = 3000;
const WANTED = { memory: 1.15, progressMs: 50, cancelSeconds: 15 };

const service = await openBatchService(ITEMS);
try {
  const tenant = await newTenant(service, 'large', DOCUMENTS[0]!.html);
  await untilEnded(service, tenant, await submitBatch(service, tenant, WARM_UP_ITEMS));
  await whole(service, tenant);
  await cancelled(service, tenant);
} finally {
  await service.close();
}
process.exit(0);

async function whole(service: BatchService, tenant: Tenant): Promise<void> {
  console.log(`\nA batch of ${ITEMS}, to its end`);
  const memory = watchOverTime(service.role.pid);
  const began = performance.now();
  const batchId = await submitBatch(service, tenant, ITEMS);
  const letIn = performance.now() - began;
  const reads: number[] = [];
  for (;;) {
    const asked = performance.now();
    const { finishedAt, progress } = await stateOf(service, tenant, batchId);
    reads.push(performance.now() - asked);
    if (finishedAt !== null) {
      if (progress.completed !== ITEMS) throw new Error(`${progress.failed} items have failed`);
      break;
    }
    await sleep(READ_EVERY_MS);
  }
  const seconds = (performance.now() - began) / 1000;
  const samples = memory.stop();
  console.log(
    `  let in after ${letIn.toFixed(0)} ms, ended after ${seconds.toFixed(0)} s: ${(ITEMS / seconds).toFixed(1)} items a second`,
  );
  for (const part of PROCESS_KINDS) {
    const { first, last } = thirds(samples, part);
    const ratio = last / first;
    console.log(
      `  ${part}: at most ${mebibytes(first)} in the first third, ${mebibytes(last)} in the last: ${ratio.toFixed(2)}, wanted ≤ ${WANTED.memory}: ${verdict(ratio <= WANTED.memory)}`,
    );
    console.log(`    in tenths of the run: ${tenths(samples, part)}`);
  }
  console.log(`    of the browsers, renderers: ${tenths(samples, 'renderers')}`);
  reads.sort((a, b) => a - b);
  const p95 = percentile95(reads);
  console.log(
    `  progress read ${reads.length} times: p50 ${median(reads).toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, at most ${reads.at(-1)!.toFixed(0)} ms, wanted p95 < ${WANTED.progressMs}: ${verdict(p95 < WANTED.progressMs)}`,
  );
}

/** Its items are on their way or waiting when it is cancelled; those that run end by themselves. */
async function cancelled(service: BatchService, tenant: Tenant): Promise<void> {
  console.log(`\nA batch of ${ITEMS} that is cancelled`);
  const batchId = await submitBatch(service, tenant, ITEMS);
  await sleep(CANCEL_AFTER_MS);
  const began = performance.now();
  const seconds = () => ((performance.now() - began) / 1000).toFixed(1);
  const response = await clientOf(service, tenant).call('DELETE', `/v1/pdf/batch/${batchId}`);
  if (response.status !== 200) throw new Error(`${response.status}`);
  const responded = performance.now() - began;
  const watched = watchHealth(service.role.url);
  const { progress } = await untilEnded(service, tenant, batchId);
  const took = (performance.now() - began) / 1000;
  console.log(
    `  answered after ${responded.toFixed(0)} ms, ended after ${seconds()} s with ${progress.completed} completed and ${progress.failed} cancelled, wanted ≤ ${WANTED.cancelSeconds} s: ${verdict(took <= WANTED.cancelSeconds)}; /healthz answered within ${watched.stop().toFixed(0)} ms meanwhile`,
  );
  const next = performance.now();
  await untilEnded(service, tenant, await submitBatch(service, tenant, 2));
  console.log(`  a batch of two after it has ended within ${(performance.now() - next).toFixed(0)} ms`);
}
