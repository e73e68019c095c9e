import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { MemoryMeter } from '../../../src/render/chromium/process/memory-meter.ts';
import { processTree } from '../../../src/render/chromium/process/processes.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type Bench,
  browserProcesses,
  inDrawnFrames,
  render,
  rendererProcesses,
  type Site,
  startBench,
  startSite,
} from './support.ts';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const ACCOUNTS = ['1', '2', '3', '4', '5', '6'];
const CROWD = Array.from({ length: 12 }, (_, i) => String(i));

describe('warm contexts', () => {
  let bench: Bench;
  afterEach(() => bench.close());

  const renderAll = async (accounts = ACCOUNTS) => {
    for (const accountId of accounts) await render(bench, `<p>${accountId}`, {}, { accountId });
  };

  it('are kept for as many accounts as there is memory for', async () => {
    bench = await startBench({ memory: { total: 8 * GIB, available: () => 4 * GIB }, checkEveryMs: 100 });
    // Twice: the browser's own first page has a process, too, which may come late.
    for (let i = 0; i < 2; i++) await renderAll();
    const before = new Set(browserProcesses());
    await renderAll();
    assert.deepEqual(
      browserProcesses().filter((pid) => !before.has(pid)),
      [],
    );
  });

  it('go when they weigh more than their share, those that are idle for longest first', async () => {
    const memory = { total: GIB, available: () => GIB / 2 };
    bench = await startBench({ memory });
    await renderAll();
    // Room for half of them. What one weighs depends on how many processes share what it has mapped.
    const room = (await weigh(rendererProcesses())) / 2;
    await bench.close();
    bench = await startBench({ memory, warmMemoryShare: room / memory.total, checkEveryMs: 100 });
    await renderAll();
    await eventually('most have gone', () => rendererProcesses().length < ACCOUNTS.length);
    const before = new Set(browserProcesses());
    await render(bench, '<p>x', {}, { accountId: ACCOUNTS.at(-1)! });
    assert.deepEqual(
      browserProcesses().filter((pid) => !before.has(pid)),
      [],
    );
  });

  it('are given back when memory runs short, whoever has taken it, and renders go on', async () => {
    let left = 4 * GIB;
    bench = await startBench({ memory: { total: 8 * GIB, available: () => left }, checkEveryMs: 100 });
    await renderAll();
    assert.ok(rendererProcesses().length >= ACCOUNTS.length);
    left = 0;
    await eventually('all have gone', () => rendererProcesses().length <= 1);
    await renderAll();
    assert.deepEqual(bench.restarts, []);
  });

  it('do not count when a browser is replaced for its memory', async () => {
    const memory = { total: 32 * GIB, available: () => 16 * GIB };
    bench = await startBench({ memory });
    await render(bench, '<p>x');
    const limit = (await weigh()) + 60 * MIB;
    await bench.close();
    bench = await startBench({ memory, checkEveryMs: 100, recycle: { memoryBytes: limit } });
    await renderAll(CROWD);
    await eventually('all together weigh more', async () => (await weigh()) > limit);
    await pause(500);
    assert.deepEqual(bench.restarts, []);
  });
});

describe('contexts made ahead', () => {
  let bench: Bench;
  let site: Site;
  let known = new Set<number>();
  let begun: number[] = [];
  before(async () => {
    site = await startSite((_request, response) => {
      begun = rendererProcesses().filter((pid) => !known.has(pid));
      response
        .writeHead(200, { 'Content-Type': 'image/svg+xml' })
        .end('<svg xmlns="http://www.w3.org/2000/svg"/>');
    });
    // With its one slot in use no core is idle, and nothing is made ahead.
    bench = await startBench({ slots: 1, contextsAhead: 2 });
  });
  after(async () => {
    await bench.close();
    await site.close();
  });

  for (const frames of [false, true]) {
    it(`spare a new account the start of a process, in pages that draw ${frames ? '' : 'no '}frames`, async () => {
      const html = `<img src="${site.at(`/${frames}.svg`)}">`;
      const document = frames ? inDrawnFrames(html) : html;
      // The first of its kind says that it is wanted.
      await render(bench, document, {}, { accountId: 'first' });
      await eventually('contexts are there', async () => {
        known = new Set(rendererProcesses());
        await render(bench, document, {}, { accountId: `new ${Math.random()}` });
        return begun.length === 0;
      });
    });
  }
});

/** Memory of descendants of this process, in bytes. Default: of all browsers. */
async function weigh(pids = browserProcesses()): Promise<number> {
  const tree = processTree(process.pid).filter(({ pid }) => pids.includes(pid));
  const meter = new MemoryMeter();
  // Each reading measures some of them.
  for (let i = 0; i < tree.length / 4; i++) await meter.read(tree);
  return [...(await meter.read(tree)).values()].reduce((sum, bytes) => sum + bytes, 0);
}
