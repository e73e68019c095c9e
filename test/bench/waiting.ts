/**
 * What jobs that wait cost, on the embedded database: PDFs per second of standalone with none and with many jobs of the
 * same account waiting, as ratios within one run; and how many orders a second one API lets in with no worker beside it.
 *
 * BENCH_SECONDS (default 6): how long each measurement runs.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { DEFAULT_PLANS } from '../../src/plans/plan.ts';
import { startEmbeddedDatabase } from '../../src/store/embedded/start-embedded.ts';
import { newJob, openDomain } from '../support/domain.ts';
import { startKafka } from '../support/kafka.ts';
import { watchCpu } from './cpu.ts';
import { DOCUMENTS, PRINT } from './documents.ts';
import { accountOf, openAlone, openApi, type Subject } from './subjects.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 6);
const RENDERING = { waiting: [0, 5000, 50_000], callers: 8, atLeast: 0.9 };
const ADMISSION = { waiting: [0, 5000], callers: 16, atLeast: 250 };
const WARM_UP_MS = 4000;
const BATCH = 1000;
const invoice = DOCUMENTS[0]!;

console.log(`\nJobs that wait: PDFs per second of standalone at ${RENDERING.callers} callers`);
await onDatabase(async (uri, database) => {
  const subject = await openAlone(uri);
  try {
    await subject.run(invoice, RENDERING.callers, WARM_UP_MS);
    let none = 0;
    for (const waiting of RENDERING.waiting) {
      await fill(uri, subject, waiting);
      const [node] = subject.pids as [number];
      const cpu = watchCpu({
        'node and Chromium': { pid: node, andBelow: true },
        node: { pid: node },
        database,
      });
      const perSecond = await pdfsPerSecond(subject);
      none ||= perSecond;
      const ratio = perSecond / none;
      const verdict = ratio >= RENDERING.atLeast ? 'reached' : 'MISSED';
      console.log(
        `  ${waiting} waiting: ${perSecond.toFixed(1)}/s, ${ratio.toFixed(2)} of none, wanted ≥ ${RENDERING.atLeast}: ${verdict} (${cpu.stop()})`,
      );
    }
  } finally {
    await subject.close();
  }
});

console.log(`\nOrders let in a second by one API without a worker, at ${ADMISSION.callers} callers`);
const kafka = await startKafka();
await onDatabase(async (uri, database) => {
  const subject = await openApi(uri, kafka);
  try {
    for (const waiting of ADMISSION.waiting) {
      await fill(uri, subject, waiting);
      const [node] = subject.pids as [number];
      const cpu = watchCpu({
        node: { pid: node },
        database,
        broker: { pid: kafka.pid },
        callers: { pid: process.pid },
      });
      const { perSecond, p95 } = await subject.run(invoice, ADMISSION.callers, SECONDS * 1000);
      const verdict = perSecond >= ADMISSION.atLeast ? 'reached' : 'MISSED';
      console.log(
        `  ${waiting} waiting: ${perSecond.toFixed(0)}/s, p95 ${p95.toFixed(0)} ms, wanted ≥ ${ADMISSION.atLeast}: ${verdict} (${cpu.stop()})`,
      );
    }
  } finally {
    await subject.close();
  }
});
await kafka.stop();
process.exit(0);

/** Everything that is printed, for the callers and of those that wait. */
async function pdfsPerSecond(subject: Subject): Promise<number> {
  const began = performance.now();
  const before = await printed(subject.url);
  await subject.run(invoice, RENDERING.callers, SECONDS * 1000);
  return ((await printed(subject.url)) - before) / ((performance.now() - began) / 1000);
}

async function printed(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const counts = text.matchAll(/^platen_jobs_ended_total\{[^}]*state="completed"[^}]*\} (\d+)/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

/** Lets invoices of the account in until so many wait, by the admission that ships. */
async function fill(uri: string, subject: Subject, waiting: number): Promise<void> {
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

async function onDatabase(
  measure: (uri: string, database: { readonly pid: number }) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'platen-waiting-'));
  const database = await startEmbeddedDatabase({ dataDir: folder, logger: pino({ level: 'silent' }) });
  try {
    await measure(database.uri, database);
  } finally {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  }
}
