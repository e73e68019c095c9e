/**
 * What jobs that wait cost, on the embedded database: PDFs per second of standalone with many jobs of the account waiting,
 * as ratios to another one with none, measured just before and just after; and how many orders a second one API lets in
 * with no worker beside it.
 *
 * BENCH_SECONDS (default 6): how long each measurement runs.
 */
import { DEFAULT_PLANS } from '../../src/tenants/plans/plan.ts';
import { newJob, openDomain } from '../support/domain.ts';
import { startKafka } from '../support/kafka.ts';
import { watchCpu } from './cpu.ts';
import { DOCUMENTS, PRINT } from './documents.ts';
import { onDatabase } from './on-database.ts';
import { accountOf, openAlone, openApi, type Subject } from './subjects.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 6);
const RENDERING = { waiting: [5000, 50_000], callers: 8, atLeast: 0.9 };
const ADMISSION = { waiting: [0, 5000], callers: 16, atLeast: 250 };
/** So long that the compilers of Node and of the database have done their work: what is compared has equal shares of it. */
const WARM_UP_MS = 15_000;
const BATCH = 1000;
const invoice = DOCUMENTS[0]!;

/** A database, and what runs on it. */
interface Bench {
  readonly subject: Subject;
  readonly uri: string;
  readonly databasePid: number;
}

console.log(
  `\nPDFs per second of standalone at ${RENDERING.callers} callers, while jobs of the account wait`,
);
await onSubject(openAlone, async (none) => {
  await none.subject.run(invoice, RENDERING.callers, WARM_UP_MS);
  for (const waiting of RENDERING.waiting) {
    const before = await render(none, 0);
    const full = await onSubject(openAlone, async (bench) => {
      await fill(bench, waiting);
      await bench.subject.run(invoice, RENDERING.callers, WARM_UP_MS);
      return await render(bench, waiting);
    });
    const ratio = full / ((before + (await render(none, 0))) / 2);
    console.log(`  with ${waiting} waiting ${ratio.toFixed(2)} of none, ${wanted(ratio, RENDERING.atLeast)}`);
  }
});

console.log(`\nOrders let in a second by one API without a worker, at ${ADMISSION.callers} callers`);
const kafka = await startKafka();
await onSubject(
  (uri) => openApi(uri, kafka),
  async (bench) => {
    for (const waiting of ADMISSION.waiting) {
      await fill(bench, waiting);
      const { subject, databasePid } = bench;
      const cpu = watchCpu({
        node: { pid: subject.pids[0]! },
        database: { pid: databasePid },
        broker: { pid: kafka.pid },
        callers: { pid: process.pid },
      });
      const { perSecond, p95 } = await subject.run(invoice, ADMISSION.callers, SECONDS * 1000);
      console.log(
        `  ${waiting} waiting: ${perSecond.toFixed(0)}/s, p95 ${p95.toFixed(0)} ms, ${wanted(perSecond, ADMISSION.atLeast)} (${cpu.stop().text})`,
      );
    }
  },
);
await kafka.stop();
process.exit(0);

function wanted(reached: number, atLeast: number): string {
  return `wanted ≥ ${atLeast}: ${reached >= atLeast ? 'reached' : 'MISSED'}`;
}

/** Everything that is printed in a second, for the callers and of those that wait. */
async function render({ subject, databasePid }: Bench, waiting: number): Promise<number> {
  const [node] = subject.pids as [number];
  const cpu = watchCpu({ node: { pid: node }, Chromium: { below: node }, database: { pid: databasePid } });
  const began = performance.now();
  const before = await printed(subject.url);
  await subject.run(invoice, RENDERING.callers, SECONDS * 1000);
  const pdfs = (await printed(subject.url)) - before;
  const perSecond = pdfs / ((performance.now() - began) / 1000);
  const { seconds, text } = cpu.stop();
  const each = ((seconds / pdfs) * 1000).toFixed(1);
  console.log(`  ${waiting} waiting: ${perSecond.toFixed(1)}/s, ${each} ms of CPU each (${text})`);
  return perSecond;
}

async function printed(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const counts = text.matchAll(/^platen_jobs_ended_total\{[^}]*state="completed"[^}]*\} (\d+)/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Lets invoices of the account in until so many wait, by the admission that ships. */
async function fill({ uri, subject }: Bench, waiting: number): Promise<void> {
  if (waiting === 0) return;
  const accountId = await accountOf(subject.url);
  const domain = await openDomain({ uri, plan: { ...DEFAULT_PLANS.business, maxWaitingJobs: 1_000_000 } });
  const more = async () => waiting - ((await domain.ledger.find(accountId))?.waiting ?? 0);
  for (let missing = await more(); missing > 0; missing = await more()) {
    const jobs = Array.from({ length: Math.min(BATCH, missing) }, () => {
      const { job, input } = newJob(accountId, { plan: 'business' });
      const source = { mode: 'html', html: invoice.html } as const;
      return { job, input: { ...input, source, options: PRINT } };
    });
    await domain.admit(...jobs);
  }
  await domain.close();
}

function onSubject<Result>(
  open: (uri: string) => Promise<Subject>,
  measure: (bench: Bench) => Promise<Result>,
): Promise<Result> {
  return onDatabase(async ({ uri, pid }) => {
    const subject = await open(uri);
    try {
      return await measure({ subject, uri, databasePid: pid });
    } finally {
      await subject.close();
    }
  });
}
