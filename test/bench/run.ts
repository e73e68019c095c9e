import { writeFile } from 'node:fs/promises';
import { admissionText } from './admission.ts';
import { type BenchDocument, DOCUMENTS } from './documents.ts';
import { type IdleFigures, measureIdle } from './idle.ts';
import { type LoadResult, median } from './load.ts';
import { watchMemory } from './memory.ts';
import { openOverKafka, openRaw, openStandalone, type Subject } from './subjects.ts';

/*
 * Renders three documents through raw puppeteer and through Platen, in turn, several times, and prints figures and
 * ratios. Machines are noisy: only the ratios within one run mean something, and they are taken round by round.
 *
 * BENCH_SECONDS (default 6): how long each subject runs per round. BENCH_ROUNDS (default 3). BENCH_ONLY: names of
 * subjects, comma-separated. BENCH_JSON: file to write the figures to.
 */
const SECONDS = Number(process.env.BENCH_SECONDS ?? 6);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const ONLY = process.env.BENCH_ONLY?.split(',');
const CALLERS = [1, 2, 3, 4, 6, 8];
const MIB = 1024 * 1024;

interface Target {
  readonly document: string;
  readonly of: string;
  readonly to: string;
  readonly atLeast: number;
}

const TARGETS: readonly Target[] = [
  { document: 'invoice', of: 's', to: 'n', atLeast: 2 },
  { document: 'invoice', of: 's', to: 'r', atLeast: 0.45 },
  { document: 'invoice', of: 's-job', to: 'n', atLeast: 0.9 },
  { document: 'invoice', of: 'k', to: 's', atLeast: 0.85 },
  { document: 'report', of: 's', to: 'r', atLeast: 0.85 },
  { document: 'text', of: 's', to: 'r', atLeast: 0.85 },
];
/** Milliseconds that a document takes longer than printed raw, when nothing else runs. */
const LATENCY_TARGETS: Readonly<Record<string, number>> = { s: 15, k: 30 };
/** Milliseconds that authentication, rate limit, quota and plan slot take of a request, when nothing else runs. */
const ADMISSION_TARGETS: Readonly<Record<string, number>> = { s: 5, k: 5 };

type Figures = LoadResult & { readonly callers: number; readonly peakMiB: number };
const figures = new Map<string, Figures[]>();
const idle = new Map<string, IdleFigures>();
const keyOf = (document: string, subject: string) => `${document} ${subject}`;

/** The concurrency at which a subject is fastest with a document, found by short runs. */
async function bestCallers(subject: Subject, document: BenchDocument): Promise<number> {
  let best = { callers: 1, perSecond: 0 };
  for (const callers of CALLERS) {
    const { perSecond } = await subject.run(document, callers, (SECONDS * 1000) / 2);
    if (perSecond > best.perSecond) best = { callers, perSecond };
  }
  return best.callers;
}

async function measure(subjects: readonly Subject[], document: BenchDocument): Promise<void> {
  const callers = new Map<string, number>();
  for (const subject of subjects) {
    await subject.run(document, 2, 1500);
    callers.set(subject.name, await bestCallers(subject, document));
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const subject of subjects) {
      const memory = watchMemory(subject.pids);
      const count = callers.get(subject.name)!;
      const result = await subject.run(document, count, SECONDS * 1000);
      const row = { ...result, callers: count, peakMiB: memory.stop() / MIB };
      const key = keyOf(document.name, subject.name);
      figures.set(key, [...(figures.get(key) ?? []), row]);
      process.stderr.write(`  ${key}: ${result.perSecond.toFixed(1)}/s at ${count}\n`);
    }
  }
}

function printTable(): void {
  const pad = (text: string | number, width: number) => String(text).padStart(width);
  console.log(
    `\n${'document'.padEnd(10)}${'subject'.padEnd(9)}${['callers', 'PDF/s', 'p50 ms', 'p95 ms', 'p99 ms', 'peak MiB'].map((head) => pad(head, 10)).join('')}`,
  );
  for (const [key, rows] of figures) {
    const [document, subject] = key.split(' ') as [string, string];
    const of = (pick: (row: Figures) => number) => median(rows.map(pick));
    const cells = [
      rows[0]!.callers,
      of((r) => r.perSecond).toFixed(1),
      of((r) => r.p50).toFixed(1),
      of((r) => r.p95).toFixed(1),
      of((r) => r.p99).toFixed(1),
      Math.max(...rows.map((r) => r.peakMiB)).toFixed(0),
    ];
    console.log(`${document.padEnd(10)}${subject.padEnd(9)}${cells.map((cell) => pad(cell, 10)).join('')}`);
  }
}

function printRatios(): void {
  console.log('\nRatios of PDFs per second (median of the rounds, lowest–highest)');
  for (const { document, of, to, atLeast } of TARGETS) {
    const above = figures.get(keyOf(document, of));
    const below = figures.get(keyOf(document, to));
    if (above === undefined || below === undefined) continue;
    const ratios = above.map((row, round) => row.perSecond / below[round]!.perSecond);
    const middle = median(ratios);
    const span = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
    console.log(
      `  ${document}: (${of}) / (${to}) = ${middle.toFixed(2)} (${span}), wanted ≥ ${atLeast}: ${middle >= atLeast ? 'reached' : 'MISSED'}`,
    );
  }
}

function printLatencies(): void {
  if (idle.size === 0) return;
  console.log('\nLatency added to the raw print when idle, p50');
  for (const [name, atMost] of Object.entries(LATENCY_TARGETS)) {
    const rounds = idle.get(name)?.added;
    if (rounds === undefined) continue;
    const added = median(rounds);
    const span = `${Math.min(...rounds).toFixed(1)}–${Math.max(...rounds).toFixed(1)}`;
    console.log(
      `  (${name}): ${added.toFixed(1)} ms (${span}), wanted ≤ ${atMost}: ${added <= atMost ? 'reached' : 'MISSED'}`,
    );
  }
}

function printAdmission(): void {
  if (idle.size === 0) return;
  console.log('\nAuthentication, rate limit, quota and plan slot when idle, p50');
  for (const [name, atMost] of Object.entries(ADMISSION_TARGETS)) {
    const medians = idle.get(name)?.admission;
    if (medians === undefined) continue;
    console.log(
      `  (${name}): ${admissionText(medians)}, wanted ≤ ${atMost}: ${medians.total <= atMost ? 'reached' : 'MISSED'}`,
    );
  }
}

const raw = await openRaw();
const open: Record<string, () => Promise<Subject>> = {
  r: async () => raw.subject('reuse', 'r'),
  n: async () => raw.subject('fresh', 'n'),
  s: () => openStandalone('s', 'account'),
  's-job': () => openStandalone('s-job', 'job'),
  k: () => openOverKafka('k'),
};
const subjects: Subject[] = [];
try {
  console.log('(r) raw puppeteer, pages reused for ever; (n) raw puppeteer, a fresh context per document;');
  console.log(
    '(s) standalone over HTTP, account isolation; (s-job) the same with job isolation; (k) three roles over Kafka',
  );
  for (const name of Object.keys(LATENCY_TARGETS)) {
    if (ONLY !== undefined && !ONLY.includes(name)) continue;
    const subject = await open[name]!();
    const options = { rounds: ROUNDS, roundMs: (SECONDS * 1000) / 2 };
    idle.set(
      name,
      await measureIdle(raw.subject('reuse', 'r'), subject, DOCUMENTS[0]!, options).finally(subject.close),
    );
  }
  for (const [name, make] of Object.entries(open)) {
    if (ONLY === undefined || ONLY.includes(name)) subjects.push(await make());
  }
  for (const document of DOCUMENTS) {
    const wanted = TARGETS.filter((target) => target.document === document.name).flatMap(({ of, to }) => [
      of,
      to,
    ]);
    await measure(
      subjects.filter(({ name }) => document.name === 'invoice' || wanted.includes(name)),
      document,
    );
  }
  printTable();
  printRatios();
  printLatencies();
  printAdmission();
  if (process.env.BENCH_JSON !== undefined) {
    await writeFile(
      process.env.BENCH_JSON,
      JSON.stringify({ figures: [...figures], idle: [...idle] }, null, 2),
    );
  }
} finally {
  for (const subject of subjects.reverse()) await subject.close();
  await raw.close();
}
process.exit(0);
