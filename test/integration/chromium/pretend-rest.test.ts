import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { processorMs } from '../../../src/chromium/process/processes.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type Bench,
  render,
  rendererProcesses,
  type Site,
  startBench,
  startSite,
  stateOf,
} from './support.ts';

const ATTACKERS = 6;
const WINDOW_MS = 4000;
/** Waits until it is taken to be at rest. */
const WAITS_FIRST = 700;
/** What a page computes at a time beside others of its account. */
const TURN_MS = 1000;

/** What a page does once it has rested. */
const PRETENDERS = {
  'compute without end': `for (;;);`,
  'compute in short tasks': `const spin = () => { for (const end = performance.now() + 5; performance.now() < end;); setTimeout(spin) }; spin()`,
  'compute in a worker': `new Worker(URL.createObjectURL(new Blob(['for (;;);'])))`,
  'compute for a fifth of the time': `setInterval(() => { for (const end = performance.now() + 20; performance.now() < end;); }, 100)`,
};

const later = (ms: number, work: string) => `<p>x<script>setTimeout(() => { ${work} }, ${ms})</script>`;

/** Processor time of all pages in so much time or a little more, and that time, in milliseconds. */
async function computedIn(ms: number): Promise<{ computed: number; elapsed: number }> {
  const all = () => new Map(rendererProcesses().map((pid) => [pid, processorMs(pid) ?? 0]));
  const began = performance.now();
  const before = all();
  await sleep(ms);
  let computed = 0;
  for (const [pid, used] of all()) computed += used - (before.get(pid) ?? used);
  return { computed, elapsed: performance.now() - began };
}

describe('pages that pretend to wait', function () {
  this.timeout(90_000);
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
      onResting: (renders) => {
        atRest = renders;
      },
    });
  });
  after(async () => {
    await bench.close();
    await site.close();
  });

  const other = () => render(bench, '<p>x<script>1</script>', {}, { accountId: 'other' });

  /** Has attackers wait for a selector that never comes, and others render once `ms` have gone by. */
  async function withstand(html: string, ms: number, resting: number): Promise<void> {
    await other();
    const ending = new AbortController();
    const attack = Array.from({ length: ATTACKERS }, () =>
      render(
        bench,
        html,
        { waitForSelector: '#never' },
        { accountId: 'attacker', timeoutMs: 60_000, signal: ending.signal },
      ),
    );
    const ended = Promise.allSettled(attack);
    await sleep(ms);
    const { computed, elapsed } = await computedIn(WINDOW_MS);
    assert.ok(computed < elapsed * 1.35, `the pages had ${computed} ms of processor time in ${elapsed}`);
    await eventually(
      `${resting} count as at rest: others may begin beside them`,
      () => atRest >= resting,
      2000,
    );
    const took: number[] = [];
    for (let i = 0; i < 10; i++) {
      const began = performance.now();
      await other();
      took.push(performance.now() - began);
    }
    ending.abort();
    await ended;
    // Something may stand still for a second beside two of them; none waits for all attackers in turn.
    took.sort((a, b) => a - b);
    assert.ok(took.at(-3)! < 1500 && took.at(-1)! < 4000, `renders of another account took ${took} ms`);
    await eventually('none is left stopped', () => !rendererProcesses().map(stateOf).includes('T'));
  }

  for (const [what, work] of Object.entries(PRETENDERS))
    it(`and ${what} have the core that there is together, and others have theirs in between`, () =>
      withstand(later(WAITS_FIRST, work), WAITS_FIRST + 2500, ATTACKERS / 2));

  it('once they have had their turn, and compute before the next step is, have that core together as well', () => {
    const turn = `<script>for (const end = performance.now() + ${TURN_MS + 100}; performance.now() < end;);</script>`;
    return withstand(turn + later(10, 'for (;;);'), ATTACKERS * (TURN_MS + 500), 0);
  });

  it('are not those that draw a chart of what they have fetched: these come out whole beside others', async () => {
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
