import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { plot } from './plot.ts';
import { POOL } from './pool.ts';
import { resultsPage } from './results-page.ts';
import { simulateAll, type TraceOutcome } from './simulate.ts';
import { OUTCOME_HEAD, outcomeRows, plainTable, TARGET_HEAD, targetRows } from './tables.ts';
import { targetsOf } from './targets.ts';
import { makeTrace, TRACES } from './traces.ts';
import { variants } from './variants.ts';

/*
 * `make simulate`. SEED chooses the jobs and everything else that chance decides (default 1). With the default seed the
 * results are written to docs/simulation as well, the same bytes each time.
 */
const DEFAULT_SEED = 1;
const DOCS = join(import.meta.dirname, '../../docs/simulation');

const seed = Number(process.env.SEED ?? DEFAULT_SEED);
const results: TraceOutcome[] = [];
for (const key of TRACES) {
  const trace = makeTrace(key, seed);
  const result = simulateAll(
    trace,
    seed,
    variants().map(({ scaler }) => scaler),
  );
  results.push(result);
  console.log(`\n${trace.name} (${trace.jobs.arrival.length} jobs, SEED=${seed}): ${trace.about}`);
  console.log(plainTable(OUTCOME_HEAD, outcomeRows(result)));
}
console.log(`\n${plainTable(TARGET_HEAD, targetRows(results.flatMap(targetsOf)))}`);

if (seed === DEFAULT_SEED) {
  await mkdir(DOCS, { recursive: true });
  for (const result of results) {
    await writeFile(join(DOCS, `${result.trace.name}.svg`), plot(result, POOL.slotsPerWorker));
  }
  await writeFile(join(DOCS, 'README.md'), resultsPage(results, seed));
}
