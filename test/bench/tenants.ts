/**
 * Many accounts: PDFs per second with invoices of 1, 8 and 50 accounts in turn, and of 500 by a Zipf distribution, beside
 * raw puppeteer with a fresh context per document (n); of standalone, and of two workers over Kafka. On standalone also
 * with every render another account, and of a page whose picture takes a second.
 *
 * BENCH_SECONDS (default 6): how long each measurement runs. BENCH_ROUNDS (default 2). BENCH_OVER (default
 * standalone,kafka). Alone: `BENCH_PART=tenants make bench`.
 */
import { Pool } from 'undici';
import { makeAccounts, renderOf } from './callers.ts';
import { type CpuUsed, type Watched, watchCpu } from './cpu.ts';
import { DOCUMENTS, random } from './documents.ts';
import { type LoadResult, median, runLoad } from './load.ts';
import { onDatabase } from './on-database.ts';
import { PICTURES_ALLOWED, startSlowPictures } from './slow-pictures.ts';
import { openAlone, openOverKafka, openRaw, type Subject } from './subjects.ts';
import { type ContextFigures, readContexts, rendererMemory } from './warm-contexts.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 6);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 2);
const OVER = (process.env.BENCH_OVER ?? 'standalone,kafka').split(',');
const CALLERS = 8;
const PICTURE_CALLERS = 24;
const PICTURE_MS = 1000;
const WARM_UP_MS = 3000;
const WORKERS = 2;
/** More than are rendered when every render is another account's. */
const STRANGERS = Math.ceil(40 * (SECONDS * ROUNDS + WARM_UP_MS / 1000));
const ZIPF_ACCOUNTS = 500;
const MIB = 1024 * 1024;

interface Row {
  readonly name: string;
  readonly document: string;
  readonly callers: number;
  /** Whose render the next one is: an index into the keys. */
  readonly next: () => number;
  /** Of which accounts none has been seen before has nothing to warm up. */
  readonly warmUp: boolean;
}

interface Figures extends LoadResult {
  readonly contexts: ContextFigures;
  readonly cpu: CpuUsed;
  /** Bytes of proportional memory for each renderer process, and how many there were. */
  readonly renderers: { readonly each: number; readonly count: number };
}

const pictures = await startSlowPictures(PICTURE_MS);
const invoice = DOCUMENTS[0]!.html;

const roundRobin = (from: number, count: number) => {
  let at = 0;
  return () => from + (at++ % count);
};
const ofAccounts: readonly Row[] = [
  { name: '1 account', next: () => 0 },
  { name: '8 in turn', next: roundRobin(0, 8) },
  { name: '50 in turn', next: roundRobin(0, 50) },
  { name: '500 by Zipf', next: byZipf(ZIPF_ACCOUNTS) },
].map((row) => ({ ...row, document: invoice, callers: CALLERS, warmUp: true }));
const strangers: Row = {
  name: 'all others',
  document: invoice,
  callers: CALLERS,
  next: roundRobin(ZIPF_ACCOUNTS, STRANGERS),
  warmUp: false,
};
const picture: Row = {
  name: 'picture 1 s',
  document: pictures.documentWith(invoice),
  callers: PICTURE_CALLERS,
  next: () => 0,
  warmUp: true,
};

const raw = await openRaw();
const fresh = raw.subject('fresh', 'n');
try {
  if (OVER.includes('standalone')) {
    console.log(`\nInvoices of many accounts on standalone, ${CALLERS} callers`);
    await compareRows((uri) => openAlone(uri, PICTURES_ALLOWED), [...ofAccounts, strangers, picture]);
  }
  if (OVER.includes('kafka')) {
    console.log(`\nInvoices of many accounts over Kafka with ${WORKERS} workers, ${CALLERS} callers`);
    await compareRows((uri) => openOverKafka('k', { uri, workers: WORKERS }), ofAccounts);
  }
} finally {
  await raw.close();
  pictures.close();
}
process.exit(0);

async function compareRows(open: (uri: string) => Promise<Subject>, rows: readonly Row[]): Promise<void> {
  await onDatabase(async (database) => {
    const emails = Array.from({ length: ZIPF_ACCOUNTS + STRANGERS }, (_, i) => `tenant-${i}@example.com`);
    const keys = await makeAccounts(database.uri, emails);
    const subject = await open(database.uri);
    try {
      await compare(subject, { database: { pid: database.pid } }, rows, keys);
    } finally {
      await subject.close();
    }
  });
}

async function compare(
  subject: Subject,
  concurrent: Watched,
  rows: readonly Row[],
  keys: readonly string[],
): Promise<void> {
  const measured = new Map<string, Figures[]>();
  const ofFresh: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await fresh.run(DOCUMENTS[0]!, CALLERS, WARM_UP_MS / 2);
    ofFresh.push((await fresh.run(DOCUMENTS[0]!, CALLERS, SECONDS * 1000)).perSecond);
    for (const row of rows) {
      const figures = await measure(subject, concurrent, row, keys);
      measured.set(row.name, [...(measured.get(row.name) ?? []), figures]);
    }
  }
  print(measured, ofFresh);
}

async function measure(
  { url, pids, workers }: Subject,
  concurrent: Watched,
  { document, callers, next, warmUp }: Row,
  keys: readonly string[],
): Promise<Figures> {
  const pool = new Pool(url, { connections: callers, headersTimeout: 120_000, bodyTimeout: 120_000 });
  const render = renderOf(pool, document);
  const call = () => render(keys[next()]!);
  const metrics = workers.map((worker) => worker.url);
  try {
    if (warmUp) await runLoad(callers, WARM_UP_MS, call);
    const before = await readContexts(metrics);
    const cpu = watchCpu({
      services: { pids },
      Chromium: { below: workers.map(({ pid }) => pid) },
      ...concurrent,
    });
    const result = await runLoad(callers, SECONDS * 1000, call);
    const used = cpu.stop();
    const contexts = (await readContexts(metrics)).since(before);
    return { ...result, contexts, cpu: used, renderers: rendererMemory(pids) };
  } finally {
    await pool.close();
  }
}

function print(measured: ReadonlyMap<string, readonly Figures[]>, ofFresh: readonly number[]): void {
  const heads = ['PDF/s', 'of one', 'of (n)', 'warm', 'warm p50', 'warm p95', 'cold p50', 'cold p95'];
  const pad = (text: string) => text.padStart(10);
  console.log('times in ms, of the worker from its claim');
  console.log(`${''.padEnd(13)}${[...heads, 'MiB each', 'renderers'].map(pad).join('')}`);
  console.log(`${'(n)'.padEnd(13)}${pad(median(ofFresh).toFixed(1))}`);
  const one = measured.get(ofAccounts[0]!.name)!;
  for (const [name, rounds] of measured) {
    const of = (pick: (figures: Figures) => number) => median(rounds.map(pick));
    const ratio = (below: readonly number[]) => median(rounds.map((row, i) => row.perSecond / below[i]!));
    const cells = [
      of((row) => row.perSecond).toFixed(1),
      ratio(one.map((row) => row.perSecond)).toFixed(2),
      ratio(ofFresh).toFixed(2),
      of((row) => row.contexts.warmShare).toFixed(2),
      ...(['warm', 'cold'] as const).flatMap((kind) =>
        [0.5, 0.95].map((share) => of((row) => row.contexts.milliseconds(kind, share)).toFixed(0)),
      ),
      of((row) => row.renderers.each / MIB).toFixed(1),
      of((row) => row.renderers.count).toFixed(0),
    ];
    console.log(`${name.padEnd(13)}${cells.map(pad).join('')}  ${rounds.at(-1)!.cpu.text}`);
  }
}

/** The n-th of so many accounts asks 1/n as often as the first; the same in every run. */
function byZipf(count: number): () => number {
  const next = random(5);
  const sums: number[] = [];
  for (let n = 1; n <= count; n += 1) sums.push((sums.at(-1) ?? 0) + 1 / n);
  return () => {
    const point = next() * sums.at(-1)!;
    return sums.findIndex((sum) => sum >= point);
  };
}
