import assert from 'node:assert/strict';
import { type Arena, type Attack, openArena } from './support/arena.ts';
import type { Experience } from './support/neighbour.ts';

const CALLERS = 20;
const TIMEOUT_MS = 3000;
const options = { timeoutMs: TIMEOUT_MS };
/** Whether they are done in time depends on the machine. */
const SLOW = ['completed', 'RENDER_TIMEOUT', 'SELECTOR_TIMEOUT'];
const never = { ...options, waitForSelector: '.never' };

const script = (work: string) => `<p id=p>x</p><script>${work}</script>`;

/** Eight threads of each of twenty pages begin to compute at once. */
const WORKERS = `setTimeout(() => {
  for (let i = 0; i < 8; i++) new Worker(URL.createObjectURL(new Blob(['for (;;);'])));
}, 700)`;

const ATTACKS: readonly Attack[] = [
  {
    name: 'endless scripts',
    order: () => ({ html: script('for (;;);'), options }),
    ends: ['RENDER_TIMEOUT'],
    callers: CALLERS,
  },
  {
    name: 'pages that pretend to wait, and compute',
    order: () => ({ html: script('setTimeout(() => { for (;;); }, 700)'), options: never }),
    ends: SLOW,
    callers: CALLERS,
  },
  {
    name: 'pages that pretend to wait while their workers compute',
    order: () => ({ html: script(WORKERS), options: never }),
    ends: SLOW,
    callers: CALLERS,
  },
  {
    name: 'boxes of more pages than anybody can read',
    order: () => ({ html: '<div style="height:30000000px;border:1px solid"></div>', options }),
    ends: [...SLOW, 'OUTPUT_TOO_LARGE'],
    callers: CALLERS,
  },
];

describe('a neighbour of many callers with hostile documents', function () {
  this.timeout(240_000);
  let arena: Arena;
  before(async () => {
    arena = await openArena({ PLATEN_WORKER_SLOTS: '16' });
  });
  after(() => arena?.close());

  for (const attack of ATTACKS)
    it(`is not three times slower, and never waits for two of their renders to end, beside ${attack.name}`, () =>
      arena.survive(attack, assertWaits));
});

/** However busy the machine is: each time, and not in the end alone. */
function assertWaits({ renders, p95 }: Experience): void {
  const longest = Math.max(...renders);
  assert.ok(p95 < TIMEOUT_MS, `95 of 100 took up to ${p95} ms`);
  assert.ok(longest < 2 * TIMEOUT_MS, `one of ${renders.length} took ${longest} ms, p95 ${p95} ms`);
}
