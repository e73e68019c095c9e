/**
 * What a tenant loses beside another one who means harm: how long its renders take, and the service to say that it is well,
 * beside each of the attacks of `test/hostile`, and as many callers of one account with endless documents as it has; next to
 * the same without them, just before and just after. Standalone.
 *
 * And what pages that are taken to wait, and compute, have of the core that is left to them.
 *
 * BENCH_ROUNDS (default 2). BENCH_ATTACKS (a regular expression): those alone. Alone: `BENCH_PART=hostile-neighbour make bench`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { sampleProcess } from '../../src/render/chromium/process/processes.ts';
import { type Arena, cancelAll, openArena } from '../hostile/support/arena.ts';
import { FLOOD_CALLERS, FLOODS } from '../hostile/support/floods.ts';
import { FOUND_ATTACKS } from '../hostile/support/found-attacks.ts';
import { KNOWN_ATTACKS } from '../hostile/support/known-attacks.ts';
import type { Experience } from '../hostile/support/neighbour.ts';
import { AFTER_ITS_BUDGET, PRETENDERS } from '../integration/chromium/pretenders.ts';
import { failure, render, rendererProcesses, startBench } from '../integration/chromium/support.ts';
import { verdict } from './batch-service.ts';
import { median, spread } from './load.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 2);
const WANTED = new RegExp(process.env.BENCH_ATTACKS ?? '');
const ALONE_MS = 3000;
const FLOOD_MS = 8000;
/** Renders of the neighbour in each measurement, at least. */
const SAMPLES = 25;
/** What one render in twenty takes on a machine that others use, without any attack: a ratio to less tells nothing. */
const LEAST_P95_MS = 300;
const AT_MOST = { p95: 3, healthMs: 1000, cores: 1.35 };
const PRETENDERS_AT_A_TIME = 6;
/** Until they have been found out, and for how long they are looked at then. */
const FOUND_OUT_MS = 3500;
const WINDOW_MS = 4000;

interface Subject {
  readonly name: string;
  readonly measure: (arena: Arena) => Promise<Experience>;
}

const settings = { atLeast: SAMPLES };
const SUBJECTS: readonly Subject[] = [
  ...[...KNOWN_ATTACKS, ...FOUND_ATTACKS].map((attack) => ({
    name: attack.name,
    measure: (arena: Arena) => arena.survive([attack], settings),
  })),
  ...FLOODS.map(({ name, html, options }) => ({
    name: `${FLOOD_CALLERS} callers of ${name}`,
    measure: (arena: Arena) =>
      arena.withstand(
        async (attacker) => {
          const submission = { html, options: { ...options, timeoutMs: 60_000 } };
          const submissions = Array.from({ length: FLOOD_CALLERS }, () => attacker.client.submit(submission));
          const jobs = await Promise.all(submissions);
          await sleep(FLOOD_MS);
          await cancelAll(attacker, jobs);
        },
        { ...settings, accounts: FLOOD_CALLERS },
      ),
  })),
].filter(({ name }) => WANTED.test(name));

await duringAttacks();
if (process.env.BENCH_ATTACKS === undefined) await sharesOfPretenders();
process.exit(0);

async function duringAttacks(): Promise<void> {
  console.log(
    `\nA neighbour beside hostile documents: ${ROUNDS} rounds; p95 wanted ≤ ${AT_MOST.p95} × that alone, or ${LEAST_P95_MS} ms if that is less`,
  );
  const arena = await openArena();
  try {
    const found = new Map<string, { ratios: number[]; health: number }>();
    const alone: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      let before = await p95Alone(arena);
      for (const { name, measure } of SUBJECTS) {
        const { renders, health } = await measure(arena);
        const after = await p95Alone(arena);
        alone.push(after);
        const row = found.get(name) ?? { ratios: [], health: 0 };
        row.ratios.push(at(renders, 0.95) / Math.max(LEAST_P95_MS, (before + after) / 2));
        row.health = Math.max(row.health, ...health);
        found.set(name, row);
        before = after;
      }
    }
    console.log(`  alone: p95 ${spread(alone, 0)} ms`);
    for (const [name, { ratios, health }] of found) {
      const reached = median(ratios) <= AT_MOST.p95 && health <= AT_MOST.healthMs;
      const reported = `p95 ${spread(ratios, 2)} ×, /healthz up to ${Math.round(health)} ms`;
      console.log(`  ${name}: ${reported}: ${verdict(reached)}`);
    }
  } finally {
    await arena.close();
  }
}

async function p95Alone(arena: Arena): Promise<number> {
  return at((await arena.withstand(() => sleep(ALONE_MS), settings)).renders, 0.95);
}

async function sharesOfPretenders(): Promise<void> {
  console.log(
    `\n${PRETENDERS_AT_A_TIME} pages that are taken to wait, and compute, on one core: what they have of it, wanted ≤ ${AT_MOST.cores}`,
  );
  const bench = await startBench({ slots: PRETENDERS_AT_A_TIME + 2, cores: 1 });
  try {
    for (const [name, html] of [
      ...Object.entries(PRETENDERS),
      ['compute after their turn', AFTER_ITS_BUDGET],
    ]) {
      const shares: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const over = new AbortController();
        const of = { accountId: 'attacker', timeoutMs: 120_000, signal: over.signal };
        const attack = Array.from({ length: PRETENDERS_AT_A_TIME }, () =>
          failure(render(bench, html!, { waitForSelector: '#never' }, of)),
        );
        await sleep(html === AFTER_ITS_BUDGET ? PRETENDERS_AT_A_TIME * 1500 : FOUND_OUT_MS);
        shares.push(await computedIn(WINDOW_MS));
        over.abort();
        await Promise.all(attack);
      }
      console.log(`  ${name}: ${spread(shares, 2)}: ${verdict(median(shares) <= AT_MOST.cores)}`);
    }
  } finally {
    await bench.close();
  }
}

/** Processor time that all pages have had in so many milliseconds, as a part of them. */
async function computedIn(ms: number): Promise<number> {
  const all = () => new Map(rendererProcesses().map((pid) => [pid, sampleProcess(pid)?.processorMs ?? 0]));
  const began = performance.now();
  const before = all();
  await sleep(ms);
  let computed = 0;
  for (const [pid, used] of all()) computed += used - (before.get(pid) ?? used);
  return computed / (performance.now() - began);
}

/** The value below which this part of them is. */
function at(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * part) - 1] ?? 0;
}

/** The median, and between what all of them are. */
