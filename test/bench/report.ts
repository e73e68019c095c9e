/**
 * What the report of a render costs: each document rendered by standalone with a report, and without, in turn. Prints how
 * many are made a second with a report, as a part of those without, and the processor time of one more; the lowest and the
 * highest round beside the median.
 *
 * BENCH_ROUNDS (default 5), BENCH_SECONDS (default 4): of each measurement. Alone: `BENCH_PART=report make bench`.
 */
import type { Pool } from 'undici';
import { renderOf } from './callers.ts';
import { watchCpu } from './cpu.ts';
import { type BenchDocument, DOCUMENTS, PRINT } from './documents.ts';
import { runLoad, spread } from './load.ts';
import { onStandalone } from './on-database.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const DURATION_MS = 1000 * Number(process.env.BENCH_SECONDS ?? 4);
const CALLERS = 4;

interface Measured {
  readonly perSecond: number;
  /** Processor time of one render, in milliseconds. */
  readonly cpuMs: number;
}

await onStandalone(1, CALLERS, async ({ pool, keys, subject }) => {
  console.log(`\nRenders with a report beside those without, ${CALLERS} callers, ${ROUNDS} rounds`);
  for (const document of DOCUMENTS) await compare(document, pool, keys[0]!, subject.pids);
});
process.exit(0);

async function compare(
  { name, html }: BenchDocument,
  pool: Pool,
  key: string,
  pids: readonly number[],
): Promise<void> {
  const measure = async (options: object, durationMs: number): Promise<Measured> => {
    const render = renderOf(pool, html, 'sync', options);
    const cpu = watchCpu({ service: { pids }, below: { below: pids } });
    const { perSecond, count } = await runLoad(CALLERS, durationMs, () => render(key));
    return { perSecond, cpuMs: (cpu.stop().seconds * 1000) / count };
  };
  const [plain, reported] = [PRINT, { ...PRINT, report: true }];
  for (const options of [plain, reported]) await measure(options, DURATION_MS / 2);
  const ratios: number[] = [];
  const more: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const without = await measure(plain, DURATION_MS);
    const within = await measure(reported, DURATION_MS);
    ratios.push(within.perSecond / without.perSecond);
    more.push(within.cpuMs - without.cpuMs);
  }
  console.log(
    `  ${name}: ${spread(ratios, 2)} of the renders a second; ${spread(more, 0)} ms more of processor time`,
  );
}
