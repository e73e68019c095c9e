import { Session } from 'node:inspector/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../../../src/config/config.ts';
import { runRole } from '../../../src/roles/run-role.ts';

/**
 * Runs a standalone Platen in this process, under this process's environment, and prints which of its sources a render
 * runs: by V8's coverage, in every one of a few requests to a warm service, so that timers which fire meanwhile count for
 * nothing. Loading a file does not count as running it.
 */
const SOURCES = fileURLToPath(new URL('../../../src/', import.meta.url));
const WARM_UP = 8;
const COUNTED = 6;
/** Longer than what is written behind waits. */
const QUIET_MS = 900;
const UNEVEN_MS = 170;

const config = loadConfig('standalone', process.env);
const running = await runRole('standalone', config, (error) => {
  throw error;
});
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** The sources of which a function has run since the last call. */
async function ran(): Promise<Set<string>> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const files = result
    .filter(({ url }) => url.startsWith(`file://${SOURCES}`))
    .filter(({ functions }) => functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)));
  return new Set(files.map(({ url }) => fileURLToPath(url).slice(SOURCES.length)));
}

async function render(): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${running.port}/v1/pdf`, {
    method: 'POST',
    headers: { 'X-API-Key': config.PLATEN_BOOTSTRAP_API_KEY!, 'Content-Type': 'application/json' },
    body: JSON.stringify({ html: '<h1>Invoice</h1><p>A document without script.</p>' }),
  });
  const pdf = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200 || !pdf.subarray(0, 5).equals(Buffer.from('%PDF-')))
    throw new Error(`${response.status}: ${pdf.toString('latin1', 0, 500)}`);
}

for (let i = 0; i < WARM_UP; i += 1) await render();
const rounds: Set<string>[] = [];
for (let i = 0; i < COUNTED; i += 1) {
  // Not in the rhythm of any timer, which would go off in each of them.
  await sleep(QUIET_MS + i * UNEVEN_MS);
  await ran();
  await render();
  rounds.push(await ran());
}
const [first, ...others] = rounds as [Set<string>, ...Set<string>[]];
const always = [...first].filter((file) => others.every((round) => round.has(file)));
console.log(JSON.stringify(always.sort()));
await running.stop();
process.exit(0);
