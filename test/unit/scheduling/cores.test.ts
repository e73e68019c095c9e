import assert from 'node:assert/strict';
import { Cores, type CoreUser, rendersOnCores } from '../../../src/infra/scheduling/cores.ts';
import type { Charge } from '../../../src/infra/scheduling/virtual-time.ts';
import { type Case, runCases, type Step } from './support/cases.ts';

const one: CoreUser = { account: 'one', priority: 'interactive' };
const bulk: CoreUser = { account: 'one', priority: 'bulk' };

/** The options are the number of cores. */
const CASES: readonly Case<number>[] = [
  {
    title: 'go to the account that has computed least lately',
    steps: [
      ['flood', 'flood'],
      ['+50'],
      ['flood*3 other*2'],
      ['-flood', 'other'],
      ['+100'],
      ['-other', 'flood'],
      ['+100'],
      ['-flood', 'other'],
      ['+100'],
      ['-other', 'flood'],
    ],
  },
  {
    title: 'are charged to an account as often as it holds them',
    options: 3,
    steps: [
      ['several=2 single', 'several=2 single'],
      ['+50'],
      ['several=2 single'],
      ['-single', 'single'],
      ['-several', 'several=2'],
    ],
  },
  {
    title: 'are not withheld for long from an always active account by a newcomer',
    steps: [
      ...Array.from({ length: 100 }, (): Step[] => [
        ['always', 'always'],
        ['+50'],
        ['-always'],
        ['+50'],
      ]).flat(),
      ['flood', 'flood'],
      ['flood*20 always'],
      ['+100'],
      ['-flood', 'always'],
    ],
  },
  {
    title: 'are charged for what an account computes without one',
    steps: [['third', 'third'], ['charge one'], ['+500'], ['end'], ['one other'], ['-third', 'other']],
  },
];

describe('Cores', () => {
  runCases(
    CASES,
    (now, total = 1) => new Cores(total, now),
    (cores) => {
      let charge: Charge;
      return {
        charge: (account) => {
          charge = cores.usage.begin(account!);
        },
        end: () => charge.end(),
      };
    },
  );

  it('are held for a slice: a short one when a request waits that goes first, and without end when none waits', () => {
    let now = 0;
    const cores = new Cores(1, () => now);
    cores.tryAcquire(one);
    assert.equal(cores.sliceMs(one), Number.POSITIVE_INFINITY);
    now += 10;
    const waiting = (user: CoreUser) => {
      const end = new AbortController();
      cores.acquire(user, end.signal).catch(() => undefined);
      return end;
    };
    const own = waiting(one);
    assert.equal(cores.sliceMs(one), 1000, 'another of its own account waits');
    assert.equal(cores.sliceMs(bulk), 100, 'an interactive one waits');
    const other = waiting({ account: 'other', priority: 'interactive' });
    assert.equal(cores.sliceMs(one), 100, 'an account waits that has computed for less');
    own.abort();
    other.abort();
    assert.equal(cores.sliceMs(one), Number.POSITIVE_INFINITY);
    waiting({ account: 'other', priority: 'bulk' });
    assert.equal(cores.sliceMs(one), 1000, 'a bulk one waits');
  });

  it('notify their listeners at once when a request begins to wait, until the listeners are removed', async () => {
    const cores = new Cores(1);
    let notified = 0;
    const end = cores.onWaiting(() => {
      notified += 1;
    });
    const taken = await cores.acquire(one);
    assert.equal(notified, 0, 'it was idle');
    const waiting = cores.acquire(bulk);
    assert.equal(notified, 1);
    end();
    const next = cores.acquire(one);
    assert.equal(notified, 1);
    taken.release();
    (await next).release();
    await waiting;
  });

  it('allow half as many renders in addition', () => {
    assert.deepEqual([1, 2, 3, 4].map(rendersOnCores), [2, 3, 5, 6]);
  });
});
