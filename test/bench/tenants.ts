/**
 * Many accounts on one server: PDFs per second of standalone with invoices of 1, 8 and 50 accounts in turn, of 500 by a
 * Zipf distribution, and with every render another account; beside raw puppeteer with a fresh context per document (n).
 * Then a page whose picture takes a second.
 *
 * BENCH_SECONDS (default 6): how long each measurement runs. BENCH_ROUNDS (default 2). Alone: `BENCH_PART=tenants make
 * bench`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Pool } from 'undici';
import { AccountStore } from '../../src/accounts/account-store.ts';
import { KeyStore } from '../../src/keys/key-store.ts';
import { connectDatabase } from '../../src/store/connection.ts';
import { startEmbeddedDatabase } from '../../src/store/embedded/start-embedded.ts';
import { type CpuUsed, watchCpu } from './cpu.ts';
import { DOCUMENTS, PRINT, random } from './documents.ts';
import { type LoadResult, median, runLoad } from './load.ts';
import { openAlone, openRaw } from './subjects.ts';
import { type ContextFigures, readContexts, rendererMemory } from './warm-contexts.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 6);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 2);
const CALLERS = 8;
const PICTURE_CALLERS = 24;
const PICTURE_MS = 1000;
const WARM_UP_MS = 3000;
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

const pictures = createServer((_request, response) => {
  setTimeout(() => {
    response
      .writeHead(200, { 'Content-Type': 'image/svg+xml', 'Cache-Control': 'no-store' })
      .end(
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40"/></svg>',
      );
  }, PICTURE_MS);
});
await new Promise<void>((resolve) => pictures.listen(0, '127.0.0.1', resolve));
const { port } = pictures.address() as AddressInfo;
const invoice = DOCUMENTS[0]!.html;
const withPicture = invoice.replace('</body>', `<img src="http://127.0.0.1:${port}/picture.svg"></body>`);

const inTurn = (from: number, count: number) => {
  let at = 0;
  return () => from + (at++ % count);
};
const rows: readonly Row[] = [
  { name: '1 account', next: () => 0, warmUp: true },
  { name: '8 in turn', next: inTurn(0, 8), warmUp: true },
  { name: '50 in turn', next: inTurn(0, 50), warmUp: true },
  { name: '500 by Zipf', next: byZipf(ZIPF_ACCOUNTS), warmUp: true },
  { name: 'all others', next: inTurn(ZIPF_ACCOUNTS, STRANGERS), warmUp: false },
].map((row) => ({ ...row, document: invoice, callers: CALLERS }));
const picture: Row = {
  name: 'picture 1 s',
  document: withPicture,
  callers: PICTURE_CALLERS,
  next: () => 0,
  warmUp: true,
};

const folder = await mkdtemp(join(tmpdir(), 'platen-tenants-'));
const database = await startEmbeddedDatabase({ dataDir: folder, logger: pino({ level: 'silent' }) });
const raw = await openRaw();
const fresh = raw.subject('fresh', 'n');
try {
  const keys = await makeAccounts(database.uri, ZIPF_ACCOUNTS + STRANGERS);
  const subject = await openAlone(database.uri, { PLATEN_ALLOWED_PRIVATE_NETWORKS: '127.0.0.0/8' });
  try {
    await compare(subject, keys);
  } finally {
    await subject.close();
  }
} finally {
  await raw.close();
  await database.close();
  pictures.closeAllConnections();
  pictures.close();
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);

async function compare(
  subject: { readonly url: string; readonly pids: readonly number[] },
  keys: readonly string[],
): Promise<void> {
  const measured = new Map<string, Figures[]>();
  const ofFresh: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await fresh.run(DOCUMENTS[0]!, CALLERS, WARM_UP_MS / 2);
    ofFresh.push((await fresh.run(DOCUMENTS[0]!, CALLERS, SECONDS * 1000)).perSecond);
    for (const row of [...rows, picture]) {
      const figures = await measure(subject, row, keys);
      measured.set(row.name, [...(measured.get(row.name) ?? []), figures]);
    }
  }
  print(measured, ofFresh);
}

async function measure(
  { url, pids }: { readonly url: string; readonly pids: readonly number[] },
  { document, callers, next, warmUp }: Row,
  keys: readonly string[],
): Promise<Figures> {
  const pool = new Pool(url, { connections: callers, headersTimeout: 120_000, bodyTimeout: 120_000 });
  const body = JSON.stringify({ html: document, options: PRINT, executionMode: 'sync' });
  const call = async () => {
    const answer = await pool.request({
      path: '/v1/pdf',
      method: 'POST',
      headers: { 'x-api-key': keys[next()]!, 'content-type': 'application/json' },
      body,
    });
    const pdf = await answer.body.arrayBuffer();
    if (answer.statusCode !== 200)
      throw new Error(`${answer.statusCode} ${Buffer.from(pdf).subarray(0, 300)}`);
  };
  try {
    if (warmUp) await runLoad(callers, WARM_UP_MS, call);
    const before = await readContexts(url);
    const [node] = pids as [number];
    const watched = { node: { pid: node }, Chromium: { below: node }, database: { pid: database.pid } };
    const cpu = watchCpu(watched);
    const result = await runLoad(callers, SECONDS * 1000, call);
    const used = cpu.stop();
    const contexts = (await readContexts(url)).since(before);
    return { ...result, contexts, cpu: used, renderers: rendererMemory(pids) };
  } finally {
    await pool.close();
  }
}

function print(measured: ReadonlyMap<string, readonly Figures[]>, ofFresh: readonly number[]): void {
  const heads = ['PDF/s', 'of one', 'of (n)', 'warm', 'warm p50', 'warm p95', 'cold p50', 'cold p95'];
  const pad = (text: string) => text.padStart(10);
  console.log(`\nInvoices of many accounts, ${CALLERS} callers; times in ms from the claim's worker`);
  console.log(`${''.padEnd(13)}${[...heads, 'MiB each', 'renderers'].map(pad).join('')}`);
  console.log(`${'(n)'.padEnd(13)}${pad(median(ofFresh).toFixed(1))}`);
  const one = measured.get(rows[0]!.name)!;
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

/** Accounts with a key each, written as the service would. @returns the keys' secrets. */
async function makeAccounts(uri: string, count: number): Promise<string[]> {
  const connection = await connectDatabase(uri, pino({ level: 'silent' }));
  const clock = { now: () => new Date() };
  const accounts = new AccountStore(connection, clock);
  const keys = new KeyStore(connection, clock);
  const secrets: string[] = [];
  for (let i = 0; i < count; i += 1) {
    const account = await accounts.create(`tenant-${i}@example.com`, null, 'business');
    const { secret } = await keys.create(account!._id, { name: 'bench', mode: 'live', allowedIps: [] });
    secrets.push(secret);
  }
  await connection.close();
  return secrets;
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
