/**
 * The processor time of one PDF with Platen and with WeasyPrint, which is a library and no service: the invoice and the long
 * text, which need no script, in turn. Prints the median and the lowest and highest round. Processor time and not PDFs a
 * second, so that what else the machine does has little part in it.
 *
 * BENCH_ROUNDS (default 5), BENCH_SECONDS (default 4): of each measurement. `BENCH_PART=weasyprint make bench`.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { watchCpu } from './cpu.ts';
import { type BenchDocument, DOCUMENTS } from './documents.ts';
import { median } from './load.ts';
import { openStandalone } from './subjects.ts';

const run = promisify(execFile);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 4);
const CALLERS = 4;
const PYTHON = fileURLToPath(new URL('../../.cache/weasyprint/bin/python', import.meta.url));
const PROGRAM = fileURLToPath(new URL('./weasyprint_cpu.py', import.meta.url));

const folder = await mkdtemp(join(tmpdir(), 'platen-bench-weasyprint-'));
const platen = await openStandalone('s', 'account');
try {
  for (const document of DOCUMENTS.filter(({ name }) => name !== 'report')) await compare(document);
} finally {
  await platen.close();
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);

async function compare(document: BenchDocument): Promise<void> {
  const file = join(folder, `${document.name}.html`);
  await writeFile(file, document.html);
  await platen.run(document, CALLERS, SECONDS * 1000);
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const cpu = watchCpu({ service: { pids: platen.pids }, below: { below: platen.pids } });
    const { count } = await platen.run(document, CALLERS, SECONDS * 1000);
    ours.push((cpu.stop().seconds * 1000) / count);
    const { stdout } = await run(PYTHON, [PROGRAM, file, String(SECONDS)]);
    theirs.push(Number(stdout));
  }
  console.log(`${document.name}: Platen ${shown(ours)}, WeasyPrint ${shown(theirs)} of processor time each`);
}

function shown(milliseconds: readonly number[]): string {
  const [low, high] = [Math.min(...milliseconds), Math.max(...milliseconds)].map((ms) => ms.toFixed(0));
  return `${median(milliseconds).toFixed(0)} ms (${low}–${high})`;
}
