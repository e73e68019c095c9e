import assert from 'node:assert/strict';
import { setImmediate as settled } from 'node:timers/promises';
import { DedicatedBrowsers, dedicatedBrowsersFor } from '../../../src/infra/scheduling/dedicated-browsers.ts';

const GIB = 1024 ** 3;

/** A browser without renders of its own. */
class Living {
  jobs = 0;
  busy = 0;
  retiring = false;
  readonly #end = Promise.withResolvers<void>();
  readonly exited = this.#end.promise;

  enter(): this {
    this.jobs++;
    this.busy++;
    return this;
  }

  leave(): void {
    this.busy--;
    if (this.retiring && this.busy === 0) this.#end.resolve();
  }

  retire(): void {
    this.retiring = true;
    if (this.busy === 0) this.#end.resolve();
  }
}

describe('Dedicated browsers', () => {
  let now: number;
  let waiting: number;
  /** The accounts that a browser was started for, in this order. */
  let started: string[];
  let browsers: DedicatedBrowsers<Living>;

  const open = (total: number, starting = total) => {
    browsers = new DedicatedBrowsers<Living>({
      total,
      starting,
      retire: (browser) => browser.retire(),
      onWaiting: (change) => {
        waiting += change;
      },
      now: () => now,
    });
  };
  const launch = (account: string, signal = new AbortController().signal) =>
    browsers.launch({ account, signal }, async () => {
      started.push(account);
      return new Living().enter();
    });

  beforeEach(() => {
    now = 0;
    waiting = 0;
    started = [];
  });

  it('are as many as memory and slots allow, and at least two', () => {
    assert.equal(dedicatedBrowsersFor(16, 32 * GIB), 8);
    assert.equal(dedicatedBrowsersFor(16, 3 * GIB), 3);
    assert.equal(dedicatedBrowsersFor(64, 3 * GIB), 3);
    assert.equal(dedicatedBrowsersFor(2, GIB), 2);
  });

  it('are bounded in number, and in the number that is being started', async () => {
    open(3, 1);
    const starts: PromiseWithResolvers<Living>[] = [];
    const launches = ['a', 'b', 'c', 'd'].map((account) =>
      browsers.launch({ account, signal: new AbortController().signal }, () => {
        const start = Promise.withResolvers<Living>();
        starts.push(start);
        return start.promise;
      }),
    );
    const living = [new Living(), new Living(), new Living(), new Living()];
    for (const [i, browser] of living.entries()) {
      await settled();
      assert.equal(starts.length, Math.min(i + 1, 3), 'one is started after the other');
      if (i < 3) starts[i]!.resolve(browser.enter());
    }
    await settled();
    assert.equal(waiting, 1);
    living[1]!.retire();
    living[1]!.leave();
    await settled();
    assert.equal(starts.length, 4);
    starts[3]!.resolve(living[3]!);
    await Promise.all(launches);
    assert.equal(waiting, 0);
  });

  it('go to the account that has used dedicated browsers least lately', async () => {
    open(1);
    const flood = await launch('flood');
    now += 500;
    const all = [launch('flood'), launch('flood'), launch('other')];
    flood.retire();
    flood.leave();
    for (const next of [all[2]!, all[0]!, all[1]!]) {
      const browser = await next;
      now += 100;
      browser.retire();
      browser.leave();
    }
    assert.deepEqual(started, ['flood', 'other', 'flood', 'flood']);
  });

  it('are not all of one account', async () => {
    open(3);
    const all = [1, 2, 3].map(() => launch('flood'));
    await settled();
    assert.deepEqual(started, ['flood', 'flood']);
    await launch('other');
    now += 60_000;
    browsers.makeRoom();
    const [first] = await Promise.all(all.slice(0, 2));
    assert.equal(first!.retiring, false, 'nobody gives way for an account that may have no more');
    first!.retire();
    first!.leave();
    await all[2];
  });

  it('retire for a waiting account, idle ones at once and others after a while', async () => {
    open(2);
    const [idle, busy] = [await launch('a'), await launch('b')];
    idle.leave();
    await launch('c');
    assert.equal(idle.retiring, true);
    assert.equal(busy.retiring, false);
    now += 1000;
    const last = launch('d');
    browsers.makeRoom();
    assert.equal(busy.retiring, false);
    now += 1500;
    browsers.makeRoom();
    assert.equal(busy.retiring, true, 'it has lived for longest');
    await settled();
    assert.deepEqual(started, ['a', 'b', 'c'], 'what is under way in it goes on');
    busy.leave();
    await last;
  });

  describe('when browsers are slow to retire', () => {
    /** Both browsers are in slow renders, and have been asked to retire. */
    const full = async () => {
      open(2);
      const quick = await launch('quick');
      const hogs = [await launch('hog')];
      quick.leave();
      hogs.push(await launch('other hog'));
      const next = [launch('stranger'), launch('quick')] as const;
      now += 2500;
      browsers.makeRoom();
      await settled();
      assert.deepEqual(started.splice(0), ['quick', 'hog', 'other hog']);
      now += 1001;
      browsers.makeRoom();
      await settled();
      return { hogs, next };
    };

    it('are one more for a quick account at a time, first for one that is known to be quick', async () => {
      const { next } = await full();
      assert.deepEqual(started, ['quick']);
      const quick = await next[1];
      now += 100;
      quick.leave();
      browsers.makeRoom();
      await settled();
      assert.deepEqual(started, ['quick', 'stranger']);
      void launch('third');
      now += 4000;
      browsers.makeRoom();
      now += 4000;
      browsers.makeRoom();
      await settled();
      assert.deepEqual(started, ['quick', 'stranger'], 'no further one, when that is slow as well');
      assert.equal(waiting, 1);
    });

    it('are not all given to slow accounts again while another account is active', async () => {
      const { hogs, next } = await full();
      for (const hog of hogs) hog.leave();
      const [stranger, quick] = await Promise.all(next);
      stranger.retire();
      stranger.leave();
      await launch('hog');
      void launch('other hog');
      now += 30_000;
      browsers.makeRoom();
      assert.equal(quick.retiring, false);
      assert.equal(waiting, 1);
    });
  });

  it('release their permit when the start fails or the request is given up', async () => {
    open(1);
    const none = browsers.launch({ account: 'a', signal: new AbortController().signal }, async () => {
      throw new Error('no browser');
    });
    await assert.rejects(none, /no browser/);
    const browser = await launch('a');
    const cancel = new AbortController();
    const given = launch('b', cancel.signal);
    assert.equal(waiting, 1);
    cancel.abort(new Error('given up'));
    await assert.rejects(given, /given up/);
    assert.equal(waiting, 0);
    browser.retire();
    browser.leave();
    await launch('c');
    assert.deepEqual(started, ['a', 'c']);
  });

  it('hold a core permit while they start', async () => {
    open(1);
    const steps: string[] = [];
    const permit = {
      acquire: async () => void steps.push('acquire'),
      release: () => void steps.push('release'),
    };
    await browsers.launch({ account: 'a', permit, signal: new AbortController().signal }, async () => {
      steps.push('start');
      return new Living();
    });
    assert.deepEqual(steps, ['acquire', 'start', 'release']);
  });
});
