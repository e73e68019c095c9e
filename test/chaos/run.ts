import { runChaos } from './chaos.ts';

/**
 * `make chaos`. SEED chooses the kills and the submissions (default: a new one, which is printed); CHAOS_SEEDS runs
 * several, as `1..10` or `3,7`. CHAOS_SUBMISSIONS is the number of submissions (default 600). TEST_STORE=s3 keeps the PDFs in
 * a bucket of versitygw. The exit status is 1 when there was a finding.
 */
const LIMIT_MS = 240_000;

const { SEED, CHAOS_SEEDS, CHAOS_SUBMISSIONS } = process.env;
const submissions = Number(CHAOS_SUBMISSIONS ?? 600);
let found = 0;
for (const seed of seedsOf(CHAOS_SEEDS ?? SEED ?? String(Math.floor(Math.random() * 1e6)))) {
  console.log(`SEED=${seed}, ${submissions} submissions`);
  const findings = await runChaos({
    seed,
    submissions,
    limitMs: LIMIT_MS,
    log: (line) => console.log(`  ${line}`),
  });
  for (const finding of findings) console.log(`FINDING ${finding}`);
  console.log(`SEED=${seed}: ${findings.length} findings`);
  found += findings.length;
}
process.exit(found === 0 ? 0 : 1);

function seedsOf(text: string): number[] {
  const range = /^(\d+)\.\.(\d+)$/.exec(text);
  if (range === null) return text.split(',').map(Number);
  const [first, last] = [Number(range[1]), Number(range[2])];
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}
