/**
 * One account has as many renders of seconds under way as its plan allows, or sends thousands in the background; another
 * sends one a second and waits for it: how long the other's take beside those of the same account on a machine with
 * nothing else to do. Standalone, on its defaults.
 *
 * BENCH_FLOOD (default 2000): renders that the one account sends. BENCH_SAMPLES (default 30): renders of the other, in
 * each phase. Alone: `BENCH_PART=fairness make bench`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { Pool } from 'undici';
import type { RenderOptions } from '../../src/jobs/render-options.ts';
import { startEmbeddedDatabase } from '../../src/store/embedded/start-embedded.ts';
import { makeAccounts } from './callers.ts';
import { DOCUMENTS, PRINT } from './documents.ts';
import { openAlone } from './subjects.ts';

const FLOOD = Number(process.env.BENCH_FLOOD ?? 2000);
const SAMPLES = Number(process.env.BENCH_SAMPLES ?? 30);
const EVERY_MS = 1000;
const SENDERS = 8;
const WARM_UP = 10;
/** As many as the plan of the account has renders at a time, and how long each takes. */
const SLOW_CALLERS = 40;
const SLOW_MS = 4000;
const AT_MOST = 1.5;
const { html } = DOCUMENTS[0]!;

const folder = await mkdtemp(join(tmpdir(), 'platen-fairness-'));
const database = await startEmbeddedDatabase({ dataDir: folder, logger: pino({ level: 'silent' }) });
try {
  const [flooding, other] = await makeAccounts(database.uri, ['flooding@example.com', 'other@example.com']);
  const subject = await openAlone(database.uri);
  const pool = new Pool(subject.url, { connections: SLOW_CALLERS + 2, headersTimeout: 120_000 });
  try {
    await compare(pool, flooding!, other!);
  } finally {
    await pool.close();
    await subject.close();
  }
} finally {
  await database.close();
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);

async function compare(pool: Pool, flooding: string, other: string): Promise<void> {
  console.log(
    `\nOne account renders slowly, or sends ${FLOOD} renders in the background; another one a second`,
  );
  for (let n = 0; n < WARM_UP; n += 1) {
    await send(pool, other, 'sync');
    await send(pool, flooding, 'sync');
  }
  const before = times(await everySecond(pool, other, SAMPLES));
  console.log(`  without it: ${describe(before)}`);
  const slow = times(await besideSlowRenders(pool, flooding, () => everySecond(pool, other, SAMPLES)));
  console.log(
    `  beside ${SLOW_CALLERS} renders of ${SLOW_MS} ms: ${describe(slow)}; ${ratios(slow, before)}`,
  );
  const rendered = await countRendered(pool);
  const began = performance.now();
  let sentAt = Number.POSITIVE_INFINITY;
  const flood = sendAll(pool, flooding).then(() => {
    sentAt = performance.now();
  });
  const samples = await everySecond(pool, other, SAMPLES);
  const left = FLOOD - ((await countRendered(pool)) - rendered - SAMPLES);
  const perSecond = (FLOOD - left) / ((performance.now() - began) / 1000);
  await flood;
  for (const [phase, part] of [
    ['while it is sent', samples.filter(({ begun }) => begun < sentAt)],
    ['while it is rendered', samples.filter(({ begun }) => begun >= sentAt)],
    ['in all', samples],
  ] as const) {
    if (part.length > 0) console.log(`  ${phase}: ${describe(times(part))}; ${ratios(times(part), before)}`);
  }
  console.log(`  meanwhile ${perSecond.toFixed(1)} PDFs/s of the flood; ${left} of it left`);
  if (left <= 0) console.log('  the flood was over before the samples: more are needed to measure beside it');
}

function ratios(during: readonly number[], before: readonly number[]): string {
  const p95 = at(during, 0.95) / at(before, 0.95);
  const p50 = at(during, 0.5) / at(before, 0.5);
  const verdict = p95 <= AT_MOST ? 'reached' : 'MISSED';
  return `p95 ${p95.toFixed(2)} × (p50 ${p50.toFixed(2)} ×), wanted ≤ ${AT_MOST}: ${verdict}`;
}

interface Sample {
  /** By the clock of `performance`. */
  readonly begun: number;
  readonly ms: number;
}

/** Renders of the account, one begun every second. */
async function everySecond(pool: Pool, key: string, count: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let n = 0; n < count; n += 1) {
    const begun = performance.now();
    await send(pool, key, 'sync');
    const ms = performance.now() - begun;
    samples.push({ begun, ms });
    await sleep(Math.max(0, EVERY_MS - ms));
  }
  return samples;
}

/** Milliseconds, the shortest first. */
function times(samples: readonly Sample[]): number[] {
  return samples.map(({ ms }) => ms).sort((a, b) => a - b);
}

/** Has callers of the account wait for slow renders, one after the other, until `measure` is done. */
async function besideSlowRenders<T>(pool: Pool, key: string, measure: () => Promise<T>): Promise<T> {
  let going = true;
  const caller = async () => {
    while (going) await send(pool, key, 'sync', { delayMs: SLOW_MS });
  };
  const callers = Promise.all(Array.from({ length: SLOW_CALLERS }, caller));
  // Until it shows how slow they are.
  await sleep(SLOW_MS + 1000);
  const measured = await measure();
  going = false;
  await callers;
  return measured;
}

async function sendAll(pool: Pool, key: string): Promise<void> {
  let sent = 0;
  const sender = async () => {
    while (sent++ < FLOOD) await send(pool, key, 'async');
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
}

async function send(
  pool: Pool,
  key: string,
  executionMode: 'sync' | 'async',
  more: RenderOptions = {},
): Promise<void> {
  const answer = await pool.request({
    path: '/v1/pdf',
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ html, options: { ...PRINT, ...more }, executionMode }),
  });
  const body = await answer.body.arrayBuffer();
  if (answer.statusCode !== (executionMode === 'sync' ? 200 : 202))
    throw new Error(`${answer.statusCode} ${Buffer.from(body).subarray(0, 300)}`);
}

async function countRendered(pool: Pool): Promise<number> {
  const answer = await pool.request({ path: '/metrics', method: 'GET' });
  const counts = (await answer.body.text()).matchAll(
    /^platen_jobs_ended_total\{[^}]*state="completed"[^}]*\} (\d+)/gm,
  );
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function describe(sorted: readonly number[]): string {
  const [p50, p95, most] = [at(sorted, 0.5), at(sorted, 0.95), at(sorted, 1)].map((ms) => ms.toFixed(0));
  return `p50 ${p50} ms, p95 ${p95} ms, at most ${most} ms`;
}
