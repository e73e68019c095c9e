/**
 * Batches on standalone with the embedded database:
 *
 *    throughput   items a second of one batch ÷ raw puppeteer with pages that are reused for ever, taken before and after
 *    large        a batch ten times as large: memory of each process beside the smaller one, progress reads while it runs
 *    fairness     single renders of another account, 95th percentile, while a batch runs ÷ before it
 *    accepting    time until a batch is answered for, 95th percentile, while those before it run
 *
 * BENCH_ITEMS (default 1000): items of a batch. BENCH_SECONDS (default 6): how long raw puppeteer and the callers of the
 * fairness part run; the large batch runs for five times as long, and is cancelled then. BENCH_ONLY: names of parts,
 * comma-separated.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signUp } from '../support/account-client.ts';
import { TestClient } from '../support/client.ts';
import { descendants, type RoleProcess, startRole } from '../support/processes.ts';
import { treeMemory } from '../support/tree-memory.ts';
import { watchCpu } from './cpu.ts';
import { DOCUMENTS, PRINT } from './documents.ts';
import { median, runLoad } from './load.ts';
import { openRaw } from './subjects.ts';

const ITEMS = Number(process.env.BENCH_ITEMS ?? 1000);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 6);
const RAW_CALLERS = 4;
const ACCEPTED = 20;
const EXPANDS_MS = 1500;
const CALLERS = [1, 4];
const WANTED = { throughput: 0.9, acceptMs: 400, progressMs: 50, fairness: 1.5, memory: 1.15 };
const MIB = 1024 * 1024;
const invoice = DOCUMENTS[0]!;
/** As business has it, but for what would end a benchmark; it is the plan of whoever signs up. */
const PLAN = {
  monthlyRenders: 1_000_000,
  requestsPerMinute: 1_000_000,
  concurrentRenders: 20,
  maxWaitingJobs: 1_000_000,
  maxBatchItems: 10 * ITEMS,
  maxInputSizeBytes: 15 * MIB,
  maxStoredBytes: 1024 ** 4,
};

interface Tenant {
  readonly client: TestClient;
  readonly templateId: string;
}

const folder = await mkdtemp(join(tmpdir(), 'platen-bench-batches-'));
const plans = join(folder, 'plans.json');
await writeFile(plans, JSON.stringify({ plans: { free: PLAN } }));
const role = await startRole('standalone', {
  PLATEN_DATA_DIR: join(folder, 'data'),
  PLATEN_PLANS_FILE: plans,
  NODE_ENV: 'production',
});
try {
  await role.ready();
  const tenant = await newTenant('batches');
  const other = await newTenant('others');
  const parts = {
    throughput: () => throughput(tenant),
    large: () => large(tenant),
    fairness: () => fairness(tenant, other),
    accepting: () => accepting(tenant),
  };
  const only = process.env.BENCH_ONLY?.split(',');
  for (const [name, measure] of Object.entries(parts)) if (only?.includes(name) ?? true) await measure();
} finally {
  await role.end();
  await rm(folder, { recursive: true, force: true });
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
  await untilEnded(tenant, await order(tenant, Math.ceil(ITEMS / 10)));
  const before = await limit();
  const cpu = watchCpu({ node: { pid: role.pid }, 'its children': { below: role.pid } });
  const memory = watchParts(role);
  const batchId = await order(tenant, ITEMS);
  const began = performance.now();
  const { failed } = (await untilEnded(tenant, batchId)).progress;
  const perSecond = ITEMS / ((performance.now() - began) / 1000);
  if (failed > 0) throw new Error(`${failed} items have failed`);
  const used = cpu.stop();
  const peaks = memory.stop();
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
  console.log(`  peak memory: ${memoryText(peaks)}`);
}

/** The last part: what it leaves is not waited for. */
async function accepting(tenant: Tenant): Promise<void> {
  console.log(`\nTime until a batch of ${ITEMS} is answered for, ${ACCEPTED} times`);
  const took: number[] = [];
  for (let i = 0; i < ACCEPTED; i += 1) {
    const began = performance.now();
    await order(tenant, ITEMS);
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

/** Both run for the same time: what they hold differs by what waits alone. */
async function large(tenant: Tenant): Promise<void> {
  console.log(`\nA batch of ${10 * ITEMS} beside one of ${ITEMS}, ${5 * SECONDS} s each`);
  const small = await runFor(tenant, ITEMS);
  const big = await runFor(tenant, 10 * ITEMS);
  console.log(`  peak memory with ${ITEMS}: ${memoryText(small.peaks)}`);
  console.log(`  peak memory with ${10 * ITEMS}: ${memoryText(big.peaks)}`);
  const growth = big.peaks.node / small.peaks.node;
  console.log(
    `  node ${growth.toFixed(2)} of the smaller one, wanted ≤ ${WANTED.memory}: ${verdict(growth <= WANTED.memory)}`,
  );
  for (const [items, { reads }] of [
    [ITEMS, small],
    [10 * ITEMS, big],
  ] as const) {
    const [p50, p95] = [median(reads), percentile95(reads)];
    console.log(
      `  progress of ${items} read in p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, wanted p95 < ${WANTED.progressMs}: ${verdict(p95 < WANTED.progressMs)}`,
    );
  }
}

async function runFor(tenant: Tenant, items: number): Promise<{ peaks: Parts; reads: readonly number[] }> {
  const memory = watchParts(role);
  const batchId = await order(tenant, items);
  const reads: number[] = [];
  for (const end = performance.now() + 5 * SECONDS * 1000; performance.now() < end; await sleep(100)) {
    const began = performance.now();
    await progressOf(tenant, batchId);
    reads.push(performance.now() - began);
  }
  const peaks = memory.stop();
  await cancel(tenant, batchId);
  return { peaks, reads: reads.sort((a, b) => a - b) };
}

async function fairness(tenant: Tenant, other: Tenant): Promise<void> {
  console.log(`\nSingle renders of another account while a batch of ${ITEMS} runs`);
  const singles = (callers: number) =>
    runLoad(callers, SECONDS * 1000, async () => {
      const answer = await other.client.render({ html: invoice.html, options: PRINT });
      if (answer.status !== 200) throw new Error(`${answer.status}`);
    });
  await singles(1);
  for (const callers of CALLERS) {
    const before = await singles(callers);
    const batchId = await order(tenant, ITEMS);
    await sleep(2000);
    const began = await progressOf(tenant, batchId);
    const beside = await singles(callers);
    const items = (await progressOf(tenant, batchId)).completed - began.completed;
    await cancel(tenant, batchId);
    const after = await singles(callers);
    const ratio = beside.p95 / ((before.p95 + after.p95) / 2);
    console.log(
      `  ${callers} at a time: p95 ${before.p95.toFixed(0)} before, ${beside.p95.toFixed(0)} beside it, ${after.p95.toFixed(0)} after: ${ratio.toFixed(2)}, wanted ≤ ${WANTED.fairness}: ${verdict(ratio <= WANTED.fairness)}; ${(items / SECONDS).toFixed(1)} items a second meanwhile`,
    );
  }
}

async function newTenant(name: string): Promise<Tenant> {
  const owner = await signUp(role.url);
  const { apiKey } = await owner.expect(201, 'POST', '/user/api-keys', { name, mode: 'live' });
  const content = `${invoice.html}<!-- {{ number }} -->`;
  const { id } = await owner.expect(201, 'POST', '/user/templates', { name, content, sampleData: '{}' });
  return { client: new TestClient(role.url, apiKey), templateId: id };
}

/** Lets a batch in. @returns its id. */
async function order({ client, templateId }: Tenant, count: number): Promise<string> {
  const items = Array.from({ length: count }, (_, i) => ({
    id: `invoice-${i}`,
    templateId,
    data: { number: i },
    options: PRINT,
  }));
  const answer = await client.call('POST', '/v1/pdf/batch', { items });
  if (answer.status !== 202) throw new Error(`${answer.status} ${Buffer.from(answer.bytes)}`);
  return answer.json.jobId;
}

async function batchOf({ client }: Tenant, batchId: string) {
  return (await client.call('GET', `/v1/pdf/batch/${batchId}?limit=0`)).json;
}

async function progressOf(tenant: Tenant, batchId: string): Promise<{ completed: number; failed: number }> {
  return (await batchOf(tenant, batchId)).progress;
}

async function untilEnded(tenant: Tenant, batchId: string) {
  for (;;) {
    const batch = await batchOf(tenant, batchId);
    if (batch.finishedAt !== null) return batch;
    await sleep(200);
  }
}

async function cancel(tenant: Tenant, batchId: string): Promise<void> {
  await tenant.client.call('DELETE', `/v1/pdf/batch/${batchId}`);
  await untilEnded(tenant, batchId);
}

interface Parts {
  readonly node: number;
  readonly database: number;
  readonly browsers: number;
}

/** Watches the memory of the processes of standalone, in bytes. `stop` answers the peak of each. */
function watchParts({ pid }: RoleProcess): { stop(): Parts } {
  let peaks: Parts = { node: 0, database: 0, browsers: 0 };
  const look = () => {
    const children = descendants(pid);
    const database = children.find(({ command }) => command.includes('java'));
    const inDatabase = database === undefined ? 0 : treeMemory([database.pid]);
    const browsers = children.filter(({ command }) => /chrom/i.test(command) && !command.includes('--type='));
    const inBrowsers = treeMemory(browsers.map((browser) => browser.pid));
    const seen = {
      node: treeMemory([pid]) - inDatabase - inBrowsers,
      database: inDatabase,
      browsers: inBrowsers,
    };
    peaks = {
      node: Math.max(peaks.node, seen.node),
      database: Math.max(peaks.database, seen.database),
      browsers: Math.max(peaks.browsers, seen.browsers),
    };
  };
  look();
  const timer = setInterval(look, 500);
  return {
    stop() {
      clearInterval(timer);
      return peaks;
    },
  };
}

function percentile95(sorted: readonly number[]): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))] ?? Number.NaN;
}

function memoryText({ node, database, browsers }: Parts): string {
  const mib = (bytes: number) => `${(bytes / MIB).toFixed(0)} MiB`;
  return `Node and its helpers ${mib(node)}, database ${mib(database)}, browsers ${mib(browsers)}`;
}

function verdict(isReached: boolean): string {
  return isReached ? 'reached' : 'MISSED';
}
