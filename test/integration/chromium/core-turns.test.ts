import assert from 'node:assert/strict';
import { type Bench, render, startBench } from './support.ts';

const FLOOD = 10;

const busy = (ms: number) =>
  `<p>x<script>for (const end = performance.now() + ${ms}; performance.now() < end;);</script>`;

/** Renders of one account at a time, so that as many contexts of it are warm afterwards. */
async function renderAll(bench: Bench, html: string, onEnd: () => void = () => undefined): Promise<void> {
  const flood = Array.from({ length: FLOOD }, () => render(bench, html, {}, { accountId: 'flood' }));
  await Promise.all(flood.map((rendering) => rendering.then(onEnd)));
}

describe('renders of two accounts on one core', () => {
  let bench: Bench;
  const other = () => render(bench, busy(1), {}, { accountId: 'other' });

  before(async () => {
    bench = await startBench({ slots: FLOOD + 2, cores: 1 });
    await renderAll(bench, busy(1));
    await other();
  });
  after(() => bench.close());

  it('take turns: one render of another account does not wait for a flood that came before it', async () => {
    let ended = 0;
    const flood = renderAll(bench, busy(150), () => ended++);
    await other();
    assert.ok(ended <= FLOOD / 3, `${ended} renders of the flood had ended before`);
    await flood;
  });

  it('take turns while one is printed: it goes on when others wait for a core', async () => {
    const text = '<p>The quick brown fox jumps over the lazy dog, and again.'.repeat(40);
    let over = false;
    const long = render(
      bench,
      `<section style="break-after: page">${text}</section>`.repeat(400),
      {},
      { accountId: 'prints', timeoutMs: 60_000 },
    ).finally(() => {
      over = true;
    });
    let longest = 0;
    while (!over) {
      const began = performance.now();
      await other();
      longest = Math.max(longest, performance.now() - began);
    }
    const { print } = (await long).phases;
    assert.ok(print > 500, `printing took ${print} ms, which is too short to tell anything`);
    assert.ok(longest < print / 2, `a render waited ${longest} ms beside a print of ${print} ms`);
  });
});
