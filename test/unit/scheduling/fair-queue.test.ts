import assert from 'node:assert/strict';
import {
  type AccountFilter,
  FairQueue,
  type FairQueueOptions,
} from '../../../src/infra/scheduling/fair-queue.ts';
import { type Case, runCases } from './support/cases.ts';

interface Options extends FairQueueOptions {
  /** Default 2. */
  readonly capacity?: number;
  readonly eligible?: (queue: Queue) => readonly AccountFilter[];
  readonly mayServeBulk?: (queue: Queue) => boolean;
}

class Queue extends FairQueue {
  override capacity: number;
  readonly #options: Options;

  constructor(options: Options = {}) {
    super(options);
    this.capacity = options.capacity ?? 2;
    this.#options = options;
  }

  protected override eligible(): readonly AccountFilter[] {
    return this.#options.eligible?.(this) ?? super.eligible();
  }

  protected override mayServeBulk(isDue: boolean): boolean {
    return this.#options.mayServeBulk?.(this) ?? super.mayServeBulk(isDue);
  }
}

const CASES: readonly Case<Options>[] = [
  {
    title: 'grants permits up to the capacity, and the next one when one is released',
    steps: [['a*3', 'a a'], ['-a', 'a'], ['-a'], ['-a']],
  },
  {
    title: 'serves the requests of an account first in, first out',
    options: { capacity: 1 },
    steps: [['a:1', 'a:1'], ['a:2 a:3'], ['-a', 'a:2'], ['-a', 'a:3']],
  },
  {
    title: 'serves the account next that has used least, however many requests of another wait',
    steps: [['many*2', 'many many'], ['+1000'], ['many*50 one other'], ['-many -many', 'one other']],
  },
  {
    title: 'serves the account with the oldest request when usage is equal',
    steps: [['x*2', 'x x'], ['b a'], ['-x -x', 'b a']],
  },
  {
    title: 'charges for work under way',
    steps: [
      ['long', 'long'],
      ['+100'],
      ['short', 'short'],
      ['+10'],
      ['long short third'],
      ['-short', 'third'],
      ['-third', 'short'],
    ],
  },
  {
    title: 'halves usage after its half-life',
    options: { capacity: 1, usage: { halfLifeMs: 100 } },
    steps: [
      ['old', 'old'],
      ['+300'],
      ['-old'],
      ['+200'],
      ['x', 'x'],
      ['-x'],
      ['new', 'new'],
      ['+80'],
      ['-new'],
      ['x', 'x'],
      ['old new'],
      ['-x', 'old'],
    ],
  },
  {
    title:
      'has an account that arrives begin level with those that are served, so that a crowd goes once and not for long',
    options: { capacity: 1 },
    steps: [
      ['resident', 'resident'],
      ['+100'],
      ['-resident'],
      ['resident', 'resident'],
      ['+100'],
      ['a*3 b*3 resident'],
      ['-resident', 'a'],
      ['+150'],
      ['-a', 'b'],
      ['+150'],
      ['-b', 'resident'],
    ],
  },
  {
    title: 'does not charge the time for which a permit is paused',
    steps: [['a', 'a'], ['b', 'b'], ['pause a'], ['+1000'], ['resume a'], ['a b'], ['-b', 'a']],
  },
  {
    title: 'charges a fixed cost for each permit when configured, which serves accounts in rotation',
    options: { capacity: 1, usage: { costMs: 1000 } },
    steps: [
      ['slow*3', 'slow'],
      ['+5000'],
      ['quick*3'],
      ['-slow', 'quick'],
      ['-quick', 'slow'],
      ['+5000'],
      ['-slow', 'quick'],
    ],
  },
  {
    title: 'serves interactive requests first, and every fourth time a bulk one',
    options: { capacity: 1 },
    steps: [
      ['x', 'x'],
      ['bulk!*2 i*7'],
      ['-x', 'i'],
      ['-i', 'i'],
      ['-i', 'i'],
      ['-i', 'bulk!'],
      ['-bulk', 'i'],
      ['-i', 'i'],
      ['-i', 'i'],
      ['-i', 'bulk!'],
      ['-bulk', 'i'],
    ],
  },
  {
    title: 'serves bulk requests when the policy allows it',
    options: { mayServeBulk: (queue) => queue.takenBy('bulk') < 1 },
    steps: [['a!*2', 'a!'], ['b', 'b'], ['-b'], ['-a', 'a!']],
  },
  {
    title: 'grants no permit past a request that is too large, until it fits or is given up',
    options: { capacity: 3 },
    steps: [['a', 'a'], ['a=3 a'], ['-a', 'a=3'], ['-a', 'a'], ['b=3 c=3 d'], ['~b'], ['~c', 'd']],
  },
  {
    title: 'skips ineligible accounts',
    options: { eligible: (queue) => [(account) => queue.heldBy(account) < 1] },
    steps: [['a*3', 'a'], ['b', 'b'], ['c'], ['-b', 'c'], ['-a', 'a']],
  },
  {
    title: 'applies one filter after the other, until a waiting account passes one',
    options: { eligible: (queue) => (queue.taken < 1 ? [(account) => account === 'vip', () => true] : []) },
    steps: [['x', 'x'], ['a vip'], ['-x', 'vip'], ['-vip', 'a']],
  },
  {
    title: 'forgets abandoned requests',
    steps: [['x*2', 'x x'], ['a:1 a:2 a:3 b'], ['~a:2 ~b'], ['-x -x', 'a:1 a:3']],
  },
  {
    title: 'rejects a request of an account with too many waiting requests',
    options: { maxWaiting: { perAccount: 2, error: () => new Error('too-many') } },
    steps: [['a*4', 'a a'], ['a', 'too-many'], ['b'], ['+10'], ['-a', 'b'], ['-a', 'a'], ['a']],
  },
];

describe('A fair queue', () => {
  runCases(CASES, (now, options) => new Queue({ ...options, usage: { now, ...options?.usage } }));

  it('rejects a request that has waited for too long', async () => {
    const late = { ms: 5, error: () => new Error('late') };
    const queue = new Queue({ capacity: 1, deadline: late });
    await queue.acquire({ account: 'a' });
    await assert.rejects(queue.acquire({ account: 'a' }), /late/);
    assert.equal(queue.waiting(), 0);
  });

  it('releases a permit once, however often release is called', async () => {
    const queue = new Queue({ capacity: 2 });
    const permit = await queue.acquire({ account: 'a' });
    await queue.acquire({ account: 'a' });
    permit.release();
    permit.release();
    assert.deepEqual([queue.taken, queue.heldBy('a')], [1, 1]);
  });

  it('rejects with the reason of a signal, also when it has aborted before', async () => {
    const queue = new Queue({ capacity: 0 });
    const gone = new AbortController();
    const waiting = queue.acquire({ account: 'a' }, gone.signal);
    gone.abort(new Error('gone'));
    await assert.rejects(waiting, /gone/);
    await assert.rejects(queue.acquire({ account: 'a' }, gone.signal), /gone/);
    assert.equal(queue.waiting(), 0);
  });

  it('rejects all waiting requests, and keeps working', async () => {
    const queue = new Queue({ capacity: 0 });
    const all = ['a', 'b', 'a'].map((account) => queue.acquire({ account }));
    queue.rejectWaiting(new Error('none'));
    for (const rejected of all) await assert.rejects(rejected, /none/);
    queue.capacity = 1;
    assert.equal((await queue.acquire({ account: 'a' })).account, 'a');
  });

  it('grants a permit without waiting only while no request waits', async () => {
    const queue = new Queue({ capacity: 2 });
    const taken = queue.tryAcquire({ account: 'a' });
    assert.equal(queue.tryAcquire({ account: 'a', size: 2 }), undefined);
    const waiting = queue.acquire({ account: 'a', size: 2 });
    assert.equal(queue.tryAcquire({ account: 'b' }), undefined);
    taken?.release();
    assert.equal((await waiting).size, 2);
  });
});
