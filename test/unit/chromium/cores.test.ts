import assert from 'node:assert/strict';
import { Cores, type CoreUser, coresOfMachine, defaultSlots } from '../../../src/chromium/cores.ts';
import type { RenderClass } from '../../../src/chromium/renderer.ts';

const never = new AbortController().signal;
const one: CoreUser = { account: 'one', class: 'interactive' };
const bulk: CoreUser = { account: 'one', class: 'bulk' };

describe('cores', () => {
  it('are taken by so many renders at a time', async () => {
    const cores = new Cores(2);
    const first = await cores.take(one, never);
    assert.ok(cores.tryTake(one));
    assert.equal(cores.tryTake(one), undefined);
    assert.equal(cores.total - cores.taken, 0);
    const third = cores.take(bulk, never);
    first.release();
    first.release();
    await third;
    assert.equal(cores.total - cores.taken, 0);
  });

  it('are taken several at a time by one render when so many are idle, and nobody comes before who came later', async () => {
    const cores = new Cores(3);
    const first = await cores.take(one, never);
    const order: string[] = [];
    const several = cores.take(one, never, 3).then((core) => {
      order.push('several');
      assert.equal(core.count, 3);
      return core;
    });
    const later = cores.take(one, never).then(() => order.push('later'));
    assert.equal(cores.tryTake(one), undefined);
    assert.equal(cores.tryTake(one, 3), undefined);
    first.release();
    const all = await several;
    assert.equal(cores.taken, 3);
    all.release();
    await later;
    assert.deepEqual(order, ['several', 'later']);
    assert.ok(cores.tryTake(one, 2));
    assert.equal(cores.taken, 3);
  });

  it('that are kept for one that takes several go to others when it gives up', async () => {
    const cores = new Cores(2);
    await cores.take(one, never);
    const gone = new AbortController();
    const several = cores.take(one, gone.signal, 2);
    const later = cores.take(one, never);
    gone.abort(new Error('gone'));
    await assert.rejects(several, /gone/);
    await later;
    assert.equal(cores.taken, 2);
  });

  it('count as often as they are for an account that takes several, and go to one that has less', async () => {
    let now = 0;
    const cores = new Cores(
      3,
      () => undefined,
      () => now,
    );
    const user = (account: string): CoreUser => ({ account, class: 'interactive' });
    const several = cores.tryTake(user('several'), 2);
    const single = cores.tryTake(user('single'));
    now += 50;
    const order: string[] = [];
    const waits = (account: string, count: number) =>
      cores.take(user(account), never, count).then((core) => {
        order.push(account);
        return core;
      });
    const all = [waits('several', 2), waits('single', 1)];
    single?.release();
    several?.release();
    await Promise.all(all);
    assert.deepEqual(order, ['single', 'several']);
  });

  it('go to interactive renders first, and every fourth time to a bulk one that waits', async () => {
    const cores = new Cores(1);
    const taken = cores.tryTake(one);
    const order: RenderClass[] = [];
    const take = (user: CoreUser) =>
      cores.take(user, never).then((core) => {
        order.push(user.class);
        core.release();
      });
    const all = [take(bulk), take(bulk), ...Array.from({ length: 7 }, () => take(one))];
    taken?.release();
    await Promise.all(all);
    const [i, b] = ['interactive', 'bulk'] as const;
    assert.deepEqual(order, [i, i, i, b, i, i, i, b, i]);
  });

  it('go to the account that has computed for the least time lately, and of an account to who came first', async () => {
    let now = 0;
    const cores = new Cores(
      1,
      () => undefined,
      () => now,
    );
    const order: string[] = [];
    const take = (account: string, name: string) =>
      cores.take({ account, class: 'interactive' }, never).then((core) => {
        order.push(name);
        now += 100;
        core.release();
      });
    const taken = cores.tryTake({ account: 'flood', class: 'interactive' });
    now += 50;
    const all = [1, 2, 3, 4, 5].map((n) => take('flood', `flood ${n}`));
    all.push(...[1, 2].map((n) => take('other', `other ${n}`)));
    taken?.release();
    await Promise.all(all);
    assert.deepEqual(order, ['other 1', 'flood 1', 'other 2', 'flood 2', 'flood 3', 'flood 4', 'flood 5']);
  });

  it('are had for a turn: a short one where somebody waits who comes first, and without end where nobody waits', async () => {
    let now = 0;
    const cores = new Cores(
      1,
      () => undefined,
      () => now,
    );
    const taken = cores.tryTake(one);
    assert.equal(cores.turnMs(one), Number.POSITIVE_INFINITY);
    now += 10;
    const waiting = (user: CoreUser) => {
      const end = new AbortController();
      cores.take(user, end.signal).catch(() => undefined);
      return end;
    };
    const own = waiting(one);
    assert.equal(cores.turnMs(one), 1000, 'another of its own account waits');
    assert.equal(cores.turnMs(bulk), 100, 'an interactive one waits');
    const other = waiting({ account: 'other', class: 'interactive' });
    assert.equal(cores.turnMs(one), 100, 'an account waits that has computed for less');
    own.abort();
    other.abort();
    assert.equal(cores.turnMs(one), Number.POSITIVE_INFINITY);
    waiting({ account: 'other', class: 'bulk' });
    assert.equal(cores.turnMs(one), 1000, 'a bulk one waits');
    taken?.release();
  });

  it('are not kept for long from an account that is always about by one that has just come', async () => {
    let now = 0;
    const cores = new Cores(
      1,
      () => undefined,
      () => now,
    );
    for (let renders = 0; renders < 100; renders++) {
      const core = cores.tryTake({ account: 'always', class: 'interactive' });
      now += 50;
      core?.release();
      now += 50;
    }
    const order: string[] = [];
    const take = async (account: string) => {
      const core = await cores.take({ account, class: 'interactive' }, never);
      order.push(account);
      now += 100;
      core.release();
    };
    const taken = cores.tryTake({ account: 'flood', class: 'interactive' });
    const all = Array.from({ length: 20 }, () => take('flood'));
    all.push(take('always'));
    taken?.release();
    await Promise.all(all);
    assert.ok(
      order.indexOf('always') <= 10,
      `it has waited for ${order.indexOf('always')} tenths of a second`,
    );
  });

  it('tell whoever has one at once that somebody waits, until they need to know no more', async () => {
    const cores = new Cores(1);
    let told = 0;
    const end = cores.onWaiting(() => {
      told++;
    });
    const taken = await cores.take(one, never);
    assert.equal(told, 0, 'it was idle');
    const waiting = cores.take(bulk, never);
    assert.equal(told, 1);
    end();
    const next = cores.take(one, never);
    assert.equal(told, 1);
    taken.release();
    (await next).release();
    await waiting;
  });

  it('count what an account computes without one', async () => {
    let now = 0;
    const cores = new Cores(
      1,
      () => undefined,
      () => now,
    );
    const taken = cores.tryTake({ account: 'third', class: 'interactive' });
    const end = cores.countBeside(one);
    now += 500;
    end();
    const order: string[] = [];
    const all = [one, { ...one, account: 'other' }].map(async (user) => {
      const core = await cores.take(user, never);
      order.push(user.account);
      core.release();
    });
    taken?.release();
    await Promise.all(all);
    assert.deepEqual(order, ['other', 'one']);
  });

  it('are not given to a render that has ended while it waited', async () => {
    const cores = new Cores(1);
    const taken = cores.tryTake(one);
    const ending = new AbortController();
    const given = cores.take(one, ending.signal);
    const next = cores.take(one, never);
    ending.abort(new Error('cancelled'));
    await assert.rejects(given, /cancelled/);
    await assert.rejects(cores.take(one, ending.signal), /cancelled/);
    taken?.release();
    await next;
    assert.equal(cores.total - cores.taken, 0);
  });

  it('tell how many renders are at rest', () => {
    const told: number[] = [];
    const cores = new Cores(1, (renders) => told.push(renders));
    cores.rest(1);
    cores.rest(1);
    cores.rest(-1);
    assert.deepEqual(told, [1, 2, 1]);
  });
});

describe('slots where nothing is said of them', () => {
  const GIB = 1024 ** 3;
  const cores = coresOfMachine();

  it('are eight for each core, or what there is memory for', () => {
    assert.equal(defaultSlots(1024 * GIB), Math.min(256, cores * 8));
    assert.equal(defaultSlots(GIB), Math.max(cores, 2));
    assert.equal(defaultSlots(0.1 * GIB), cores);
  });
});
