import assert from 'node:assert/strict';
import type { PlatenError } from '../../../src/infra/errors/registry.ts';
import { treeMemory } from '../../support/tree-memory.ts';
import { HELD, type ImageSite, startImageSite } from './image-site.ts';
import { type Bench, failure, mainProcesses, render, startBench } from './support.ts';

const MIB = 1024 ** 2;

/** A document that holds so much memory until it is printed. */
const holds = (mib: number) => `<p>x</p><script>window.held = [];
  for (let i = 0; i < ${mib / 10}; i++) held.push(new Uint8Array(${10 * MIB}).fill(1))</script>`;

describe('memory of pages', () => {
  let bench: Bench;
  let site: ImageSite;
  beforeEach(async () => {
    site = await startImageSite();
  });
  afterEach(async () => {
    await bench.close();
    await site.close();
  });
  const stays = (mib: number) => `${holds(mib)}<img src="${site.at(HELD)}">`;

  it('is bounded by the memory that there is', async () => {
    const total = 2048 * MIB;
    bench = await startBench({ memory: { total, available: () => total }, checkEveryMs: 200 });
    const small = render(bench, stays(100), {}, { accountId: 'b' });
    const large = await failure(render(bench, stays(700), {}, { accountId: 'a' }));
    assert.equal(large.code, 'BROWSER_CRASHED');
    site.letGo();
    await small;
    assert.deepEqual(bench.restarts, []);
  });

  it('that runs out is given back by the heaviest page alone, which ends as its own crash', async () => {
    let total = Number.POSITIVE_INFINITY;
    const used = () => treeMemory(mainProcesses());
    bench = await startBench({
      slots: 4,
      browsers: 1,
      memory: {
        get total() {
          return total;
        },
        available: () => (Number.isFinite(total) ? total - used() : total),
      },
      rendererMemoryBytes: 4096 * MIB,
      checkEveryMs: 300,
    });
    // Each may have what it has: it is together that they have too much.
    total = used() + 1000 * MIB;
    const light = ['a', 'b'].map((accountId) => render(bench, stays(150), {}, { accountId }));
    const heavy = await failure(render(bench, stays(900), {}, { accountId: 'c' }));
    const { code, shared } = heavy as unknown as PlatenError;
    assert.deepEqual({ code, shared }, { code: 'BROWSER_CRASHED', shared: false });
    site.letGo();
    await Promise.all(light);
    assert.deepEqual(bench.restarts, []);
    await render(bench, '<p>x', {}, { accountId: 'c' });
  });
});
