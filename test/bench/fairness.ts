/**
 * One account has as many renders of seconds under way as its plan allows, or sends thousands in the background; another
 * sends one a second and waits for it: how long the other's take beside those of the same account on a machine with
 * nothing else to do. Standalone, on its defaults.
 *
 * BENCH_FLOOD (default 2000): renders that the one account sends. BENCH_SAMPLES (default 30): renders of the other, in
 * each round. BENCH_ROUNDS (default 3): floods, whose samples are taken together: a 95th percentile of 24 is one of them.
 * Alone: `BENCH_PART=fairness make bench`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'undici';
import { renderOf } from './callers.ts';
import { DOCUMENTS, PRINT } from './documents.ts';
import { onStandalone } from './on-database.ts';

const FLOOD = Number(process.env.BENCH_FLOOD ?? 2000);
const SAMPLES = Number(process.env.BENCH_SAMPLES ?? 30);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const EVERY_MS = 1000;
const SENDERS = 8;
const WARM_UP = 10;
/** As many as the plan of the account has renders at a time, and how long each takes. */
const SLOW_CALLERS = 40;
const SLOW_MS = 4000;
const AT_MOST = 1.5;
const { html } = DOCUMENTS[0]!;

await onStandalone(2, SLOW_CALLERS + 2, ({ pool, keys: [flooding, other] }) =>
  compare(pool, flooding!, other!),
);
process.exit(0);

async function compare(pool: Pool, flooding: string, other: string): Promise<void> {
  console.log(
    `\nOne account renders slowly, or sends ${FLOOD} renders in the background; another one a second`,
  );
  const render = renderOf(pool, html);
  for (let n = 0; n < WARM_UP; n += 1) for (const key of [other, flooding]) await render(key);
  const before = times(await everySecond(pool, other, ROUNDS * SAMPLES));
  console.log(`  without it: ${describe(before)}`);
  const slow = times(await duringSlowRenders(pool, flooding, () => everySecond(pool, other, SAMPLES)));
  console.log(
    `  beside ${SLOW_CALLERS} renders of ${SLOW_MS} ms: ${describe(slow)}; ${ratios(slow, before)}`,
  );
  const sent: number[] = [];
  const rendered: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const { samples, sentAt } = await duringFlood(pool, flooding, other);
    sent.push(...times(samples.filter(({ begun }) => begun < sentAt)));
    rendered.push(...times(samples.filter(({ begun }) => begun >= sentAt)));
  }
  for (const [phase, all] of [
    ['while it is sent', sent],
    ['while it is rendered', rendered],
    ['in all', [...sent, ...rendered]],
  ] as const) {
    const sorted = [...all].sort((a, b) => a - b);
    if (sorted.length > 0)
      console.log(`  ${phase}: ${describe(sorted)} of ${sorted.length}; ${ratios(sorted, before)}`);
  }
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
  const render = renderOf(pool, html);
  const samples: Sample[] = [];
  for (let n = 0; n < count; n += 1) {
    const begun = performance.now();
    await render(key);
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
async function duringSlowRenders<T>(pool: Pool, key: string, measure: () => Promise<T>): Promise<T> {
  let going = true;
  const render = renderOf(pool, html, 'sync', { ...PRINT, delayMs: SLOW_MS });
  const caller = async () => {
    while (going) await render(key);
  };
  const callers = Promise.all(Array.from({ length: SLOW_CALLERS }, caller));
  // Until it shows how slow they are.
  await sleep(SLOW_MS + 1000);
  const measured = await measure();
  going = false;
  await callers;
  return measured;
}

/** Renders of the other account during a flood, and when all of that had been sent. */
async function duringFlood(
  pool: Pool,
  flooding: string,
  other: string,
): Promise<{ samples: Sample[]; sentAt: number }> {
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
  console.log(`  meanwhile ${perSecond.toFixed(1)} PDFs/s of the flood; ${left} of it left`);
  if (left <= 0) console.log('  the flood was over before the samples: more are needed to measure beside it');
  // The next one begins as this one.
  while ((await countRendered(pool)) - rendered < FLOOD + SAMPLES) await sleep(EVERY_MS);
  return { samples, sentAt };
}

async function sendAll(pool: Pool, key: string): Promise<void> {
  let sent = 0;
  const render = renderOf(pool, html, 'async');
  const sender = async () => {
    while (sent++ < FLOOD) await render(key);
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
}

async function countRendered(pool: Pool): Promise<number> {
  const response = await pool.request({ path: '/metrics', method: 'GET' });
  const counts = (await response.body.text()).matchAll(
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
