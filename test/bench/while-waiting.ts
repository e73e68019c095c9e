/**
 * What documents lose beside pages that wait: an invoice, a report and a text of one account, alone and while callers of
 * another account have pages rendered whose picture takes a second; standalone, on its defaults.
 *
 * The pages that wait compute as well, before and after: their part of the cores is what they take of the processor for a
 * PDF when they are alone, times how many of them were made beside the document. What is left to the document is the rest;
 * a loss is what it falls short of that.
 *
 * BENCH_SECONDS (default 5): how long each measurement runs. BENCH_ROUNDS (default 3). Alone:
 * `BENCH_PART=while-waiting make bench`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'undici';
import { verdict } from './batch-service.ts';
import { renderOf } from './callers.ts';
import { type Watched, watchCpu } from './cpu.ts';
import { type BenchDocument, DOCUMENTS } from './documents.ts';
import { type LoadResult, median, runLoad } from './load.ts';
import { onStandalone, type StandaloneBench } from './on-database.ts';
import { PICTURES_ALLOWED, startSlowPictures } from './slow-pictures.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 5);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const CALLERS: Readonly<Record<BenchDocument['name'], number>> = { invoice: 8, report: 3, text: 3 };
const WAITING_CALLERS = 24;
const PICTURE_MS = 1000;
/** Until the pages that wait come as evenly as they do in the long run. */
const SETTLE_MS = 3000;
const WARM_UP_MS = 3000;
const WANTED = { ofWhatIsLeft: 0.95, waiting: 10 };

/** PDFs a second, and seconds of the processor that all of the service took for each second. */
interface Measured extends Pick<LoadResult, 'perSecond' | 'p50' | 'p95'> {
  readonly cores: number;
}

/** A document alone, the mean of just before and just after, and beside so many pages that wait a second. */
interface Round {
  readonly alone: Measured;
  readonly concurrent: Measured;
  readonly waited: number;
}

const pictures = await startSlowPictures(PICTURE_MS);
const measureBoth = async ({ subject, pool, keys, database }: StandaloneBench) => {
  const [node] = subject.pids as [number];
  const watched = { node: { pid: node }, below: { below: node }, database: { pid: database.pid } };
  await compare(pool, watched, keys as [string, string]);
};
await onStandalone(2, WAITING_CALLERS + 8, measureBoth, PICTURES_ALLOWED).finally(() => pictures.close());
process.exit(0);

async function compare(pool: Pool, watched: Watched, keys: readonly [string, string]): Promise<void> {
  console.log(
    `\nBeside ${WAITING_CALLERS} callers of another account, with pages whose picture takes a second`,
  );
  const waiting = renderOf(pool, pictures.documentWith(DOCUMENTS[0]!.html));
  const wait = () => waiting(keys[1]);
  const pages: Measured[] = [];
  const rows = DOCUMENTS.map(({ name, html }) => {
    const render = renderOf(pool, html);
    const load = (ms: number) => runLoad(CALLERS[name], ms, () => render(keys[0]));
    return { name, load, rounds: [] as Round[] };
  });
  for (const { load } of rows) await load(WARM_UP_MS);
  for (let round = 0; round < ROUNDS; round += 1) {
    await runLoad(WAITING_CALLERS, SETTLE_MS, wait);
    pages.push(await measure(watched, (ms) => runLoad(WAITING_CALLERS, ms, wait)));
    for (const { load, rounds } of rows) {
      await load(WARM_UP_MS / 3);
      const before = await measure(watched, load);
      const { concurrent, waited } = await concurrentlyWithOthers(wait, () => measure(watched, load));
      const after = await measure(watched, load);
      rounds.push({ alone: meanOf(before, after), concurrent, waited });
    }
  }
  const perPage = median(pages.map(({ cores, perSecond }) => cores / perSecond));
  const ofPages = median(pages.map(({ perSecond }) => perSecond));
  console.log(
    `  alone ${ofPages.toFixed(1)} of these a second, wanted ≥ ${WANTED.waiting}: ${verdict(ofPages >= WANTED.waiting)}; ${(perPage * 1000).toFixed(1)} ms of the processor each`,
  );
  for (const { name, rounds } of rows) {
    const of = (pick: (round: Round) => number) => median(rounds.map(pick));
    const ratioOf = (round: Round) => round.concurrent.perSecond / round.alone.perSecond;
    const shareOf = (round: Round) => (round.waited * perPage) / round.alone.cores;
    const [ratio, share] = [of(ratioOf), of(shareOf)];
    const kept = of((round) => ratioOf(round) / (1 - shareOf(round)));
    console.log(
      `  ${name} at ${CALLERS[name]}: ${of(({ alone }) => alone.perSecond).toFixed(1)}/s alone, ${of(({ concurrent }) => concurrent.perSecond).toFixed(1)} beside ${of(({ waited }) => waited).toFixed(1)} pages that wait: ${ratio.toFixed(2)}; these take ${share.toFixed(2)} of the cores, so ${kept.toFixed(2)} of what is left, wanted ≥ ${WANTED.ofWhatIsLeft}: ${verdict(kept >= WANTED.ofWhatIsLeft)}`,
    );
    console.log(
      `    p50 ${of(({ alone }) => alone.p50).toFixed(0)} and ${of(({ concurrent }) => concurrent.p50).toFixed(0)} ms, p95 ${of(({ alone }) => alone.p95).toFixed(0)} and ${of(({ concurrent }) => concurrent.p95).toFixed(0)} ms; ${of(({ alone }) => alone.cores).toFixed(2)} and ${of(({ concurrent }) => concurrent.cores).toFixed(2)} cores used`,
    );
  }
}

function meanOf(one: Measured, other: Measured): Measured {
  const mean = (of: keyof Measured) => (one[of] + other[of]) / 2;
  return { perSecond: mean('perSecond'), p50: mean('p50'), p95: mean('p95'), cores: mean('cores') };
}

async function measure(watched: Watched, load: (ms: number) => Promise<LoadResult>): Promise<Measured> {
  const cpu = watchCpu(watched);
  const began = performance.now();
  const result = await load(SECONDS * 1000);
  return { ...result, cores: cpu.stop().seconds / ((performance.now() - began) / 1000) };
}

/** Measures while pages that wait are rendered. @returns also how many of these ended in a second meanwhile. */
async function concurrentlyWithOthers(
  wait: () => Promise<void>,
  work: () => Promise<Measured>,
): Promise<{ concurrent: Measured; waited: number }> {
  let going = true;
  let ended = 0;
  const caller = async () => {
    while (going) {
      await wait();
      ended += 1;
    }
  };
  const callers = Promise.all(Array.from({ length: WAITING_CALLERS }, caller));
  await sleep(SETTLE_MS);
  const [from, began] = [ended, performance.now()];
  const concurrent = await work();
  const waited = (ended - from) / ((performance.now() - began) / 1000);
  going = false;
  await callers;
  return { concurrent, waited };
}
