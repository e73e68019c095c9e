import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { eventually } from '../../support/eventually.ts';
import { type Bench, render, type Site, startBench, startSite } from './support.ts';

const RENDERS = 5;
const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>';

describe('renders that wait', () => {
  let bench: Bench;
  let site: Site;
  /** Answers that are held back. */
  let held: ServerResponse[] = [];
  let mostAtRest = 0;

  before(async () => {
    site = await startSite((_request, response) => {
      held.push(response);
    });
    bench = await startBench({
      slots: RENDERS,
      cores: 1,
      onBlocked: (renders) => {
        mostAtRest = Math.max(mostAtRest, renders);
      },
    });
  });
  beforeEach(() => {
    held = [];
    mostAtRest = 0;
  });
  after(async () => {
    await bench.close();
    await site.close();
  });

  const picture = (i: number) => site.at(`/${i}.svg?${Math.random()}`);
  for (const [what, html, options] of [
    ['an asset', (i: number) => `<img src="${picture(i)}">`, {}],
    [
      'a selector',
      (i: number) =>
        `<p id=p><script>const image = new Image(); image.onload = () => p.id = 'done'; setTimeout(() => image.src = '${picture(i)}')</script>`,
      { waitForSelector: '#done' },
    ],
  ] as const) {
    it(`for ${what} hold no core: all go on concurrently on one`, async () => {
      const all = Array.from({ length: RENDERS }, (_, i) =>
        render(bench, html(i), options, { accountId: `${i}` }),
      );
      await eventually('all have asked, and wait', () => held.length === RENDERS && mostAtRest > 0);
      for (const one of held) one.writeHead(200, { 'Content-Type': 'image/svg+xml' }).end(SVG);
      for (const { pages } of await Promise.all(all)) assert.equal(pages, 1);
    });
  }

  it('for a delay hold none either', async () => {
    await render(bench, '<p>x', { delayMs: 2500 });
    assert.equal(mostAtRest, 1);
  });

  it('are not those that compute', async () => {
    const endless = '<script>for (;;);</script>';
    // The page is as new after a render, and the next document is written into it.
    await render(bench, '<script>1</script>', {}, { accountId: 'computes' });
    mostAtRest = 0;
    const settings = { accountId: 'computes', timeoutMs: 2000 };
    await assert.rejects(render(bench, endless, {}, settings), { code: 'RENDER_TIMEOUT' });
    assert.equal(mostAtRest, 0);
  });

  it('give their core to others after their budget when they compute without end', async () => {
    const endless = render(
      bench,
      '<script>for (;;);</script>',
      {},
      { accountId: 'endless', timeoutMs: 300_000 },
    );
    endless.catch(() => undefined);
    await render(bench, '<p>x', {}, { accountId: 'other' });
    await bench.renderer.close();
    await assert.rejects(endless, { code: 'WORKER_LOST' });
  });
});
