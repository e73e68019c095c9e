import assert from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { AFTER_ITS_BUDGET, PRETENDERS } from './pretenders.ts';
import {
  type Bench,
  failure,
  render,
  rendererProcesses,
  type Site,
  startBench,
  startSite,
  stateOf,
} from './support.ts';

const ATTACKERS = 6;
/** Of another account, beside them. */
const RENDERS = 5;

describe('pages that pretend to wait', () => {
  let bench: Bench;
  let site: Site;
  let atRest = 0;

  before(async () => {
    site = await startSite((_request, response) => {
      setTimeout(() => response.writeHead(200, { 'Access-Control-Allow-Origin': '*' }).end('[1]'), 500);
    });
    bench = await startBench({
      slots: ATTACKERS + 2,
      cores: 1,
      onBlocked: (renders) => {
        atRest = renders;
      },
    });
  });
  after(async () => {
    await bench.close();
    await site.close();
  });

  const other = () => render(bench, '<p>x<script>1</script>', {}, { accountId: 'other' });

  const isStopped = () => rendererProcesses().map(stateOf).includes('T');

  /** Has attackers wait for a selector that never comes, and others render once they have been found out. */
  async function withstand(html: string, blocked: number): Promise<void> {
    await other();
    const controller = new AbortController();
    const settings = { accountId: 'attacker', timeoutMs: 600_000, signal: controller.signal };
    let ended = 0;
    const attack = Array.from({ length: ATTACKERS }, () =>
      failure(render(bench, html, { waitForSelector: '#never' }, settings)).finally(() => {
        ended += 1;
      }),
    );
    try {
      await eventually(`${blocked} count as at rest: others may begin beside them`, () => atRest >= blocked);
      // Whoever computes beyond the core that they have together stands still meanwhile.
      await eventually('some are held', isStopped);
      for (let i = 0; i < RENDERS; i++) await other();
      assert.equal(ended, 0, 'none of the others waited for one of theirs to end');
    } finally {
      controller.abort();
    }
    for (const { code } of await Promise.all(attack)) assert.equal(code, 'CANCELLED');
    await eventually('none is left stopped', () => !isStopped());
  }

  for (const [what, html] of Object.entries(PRETENDERS))
    it(`and ${what} share the core that there is, and others have theirs in between`, () =>
      withstand(html, ATTACKERS / 2));

  it('that compute after their budget and before the next step share that core as well', () =>
    withstand(AFTER_ITS_BUDGET, 0));

  it('do not include documents that draw a chart of fetched data: these are complete while others render', async () => {
    const chart = `<canvas id=c></canvas><script>fetch('${site.at('/rows')}').then((r) => r.json()).then(() => {
      for (const end = performance.now() + 300; performance.now() < end;);
      c.getContext('2d').fillRect(0, 0, 99, 99); document.body.append(Object.assign(document.createElement('b'), { id: 'done' }));
    })</script>`;
    const charts = Array.from({ length: ATTACKERS }, (_, i) =>
      render(bench, chart, { waitForSelector: '#done' }, { accountId: `${i % 2}` }),
    );
    for (const { pages } of await Promise.all(charts)) assert.equal(pages, 1);
    await eventually('none rests any more', () => atRest === 0);
  });
});
