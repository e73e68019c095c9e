import assert from 'node:assert/strict';
import { type Bench, render, useBench } from './support.ts';

const FLOOD = 10;

const busy = (ms: number) =>
  `<p>x<script>for (const end = performance.now() + ${ms}; performance.now() < end;);</script>`;

/** Renders of one account at a time, so that as many contexts of it are warm afterwards. */
async function renderAll(bench: Bench, html: string, onEnd: () => void = () => undefined): Promise<void> {
  const flood = Array.from({ length: FLOOD }, () => render(bench, html, {}, { accountId: 'flood' }));
  await Promise.all(flood.map((rendering) => rendering.then(onEnd)));
}

describe('renders of two accounts on one core', () => {
  const bench = useBench({ slots: FLOOD + 2, cores: 1 });
  const other = () => render(bench, busy(1), {}, { accountId: 'other' });

  before(async () => {
    await renderAll(bench, busy(1));
    await other();
  });

  it('are granted fairly: one render of another account does not wait for a flood that came before it', async () => {
    let ended = 0;
    // Each takes so long that but a few more end while something stands still for a second.
    const flood = renderAll(bench, busy(400), () => ended++);
    await other();
    assert.ok(ended <= FLOOD / 2, `${ended} renders of the flood had ended before`);
    await flood;
  });

  it('are granted fairly while one prints: it goes on when others wait for a core', async () => {
    const text = '<p>The quick brown fox jumps over the lazy dog, and again.'.repeat(40);
    let endedAt: number | undefined;
    const long = render(
      bench,
      `<section style="break-after: page">${text}</section>`.repeat(300),
      {},
      { accountId: 'prints', timeoutMs: 300_000 },
    ).finally(() => {
      endedAt = Date.now();
    });
    const others: { began: number; ended: number }[] = [];
    while (endedAt === undefined) {
      const began = Date.now();
      await other();
      others.push({ began, ended: Date.now() });
    }
    const { print, finish } = (await long).report.phases;
    const printed = endedAt - finish;
    // One that waited for the print would end after it, and the next begin then: an order, whatever the machine takes.
    const concurrent = others.filter(({ began, ended }) => began > printed - print && ended < printed);
    assert.ok(concurrent.length >= 2, `${concurrent.length} renders beside a print of ${print} ms`);
  });
});
