import assert from 'node:assert/strict';
import { AdmissionTurns } from '../../../src/limits/admission-turns.ts';
import { eventually } from '../../support/eventually.ts';

const AT_ONCE = 16;
const OF_ONE_ACCOUNT = 2;
const never = new AbortController().signal;
const settled = () => new Promise(setImmediate);

describe('turns of requests for work', () => {
  let now: number;
  let turns: AdmissionTurns;
  /** By account, what ends the turns that it has. */
  let begun: Map<string, (() => void)[]>;
  let order: string[];

  beforeEach(() => {
    now = 0;
    turns = new AdmissionTurns({ now: () => now });
    begun = new Map();
    order = [];
  });

  const ask = (account: string, signal = never) =>
    turns.begin(account, signal).then((end) => {
      order.push(account);
      begun.set(account, [...(begun.get(account) ?? []), end]);
    });
  const askMany = async (account: string, count: number) => {
    for (let i = 0; i < count; i += 1) void ask(account);
    await settled();
  };
  const running = (account: string) => begun.get(account)?.length ?? 0;
  const endOne = async (account: string) => {
    begun.get(account)!.shift()!();
    await settled();
  };

  it('are all for an account that is alone', async () => {
    await askMany('flood', AT_ONCE + 4);
    assert.equal(running('flood'), AT_ONCE);
    await endOne('flood');
    assert.equal(running('flood'), AT_ONCE, 'one that waited has taken its place');
  });

  it('are two at a time for each account while another one is about', async () => {
    await ask('other');
    await endOne('other');
    await askMany('flood', 10);
    assert.equal(running('flood'), OF_ONE_ACCOUNT);
    await askMany('other', 1);
    assert.equal(running('other'), 1, 'it does not wait for what the first one has sent before');
    await endOne('flood');
    assert.equal(running('flood'), OF_ONE_ACCOUNT, 'what waits goes on, two at a time');
  });

  it('are all for an account again when the others have not come for five seconds', async () => {
    await ask('other');
    await endOne('other');
    await askMany('flood', 10);
    assert.equal(running('flood'), OF_ONE_ACCOUNT);
    now += 5001;
    await endOne('flood');
    assert.equal(running('flood'), 9);
  });

  it('go to a newcomer before all that waits of those who have had many', async () => {
    const floods = Array.from({ length: AT_ONCE }, (_, i) => `flood ${i}`);
    for (const flood of floods) await askMany(flood, 1);
    for (const flood of floods) await askMany(flood, 3);
    now += 100;
    await askMany('newcomer', 1);
    assert.equal(running('newcomer'), 0, 'all turns are taken');
    await endOne('flood 0');
    assert.equal(order.at(-1), 'newcomer');
  });

  it('are not lost with a caller that goes away while it waits, nor given to it', async () => {
    await ask('other');
    await askMany('flood', OF_ONE_ACCOUNT);
    const gone = new AbortController();
    const waiting = ask('flood', gone.signal);
    void ask('flood');
    gone.abort(new Error('gone'));
    await assert.rejects(waiting, /gone/);
    await endOne('flood');
    assert.equal(running('flood'), OF_ONE_ACCOUNT);
    await endOne('flood');
    assert.equal(running('flood'), 1, 'nobody waits any more');
  });

  it('are given back once, however often they are ended', async () => {
    await ask('other');
    const end = await turns.begin('flood', never);
    await turns.begin('flood', never);
    end();
    end();
    await askMany('flood', 3);
    assert.equal(running('flood'), 1);
  });

  it('are waited for so long at most', async () => {
    turns = new AdmissionTurns({ longestWaitMs: 5 });
    await turns.begin('other', never);
    for (let i = 0; i < OF_ONE_ACCOUNT; i += 1) await turns.begin('flood', never);
    await assert.rejects(turns.begin('flood', never), { code: 'UNAVAILABLE', retryAfterSeconds: 1 });
  });

  describe('for the background', () => {
    const GAP_MS = 5;
    const background = async (account: string) => {
      const end = await turns.begin(account, never);
      turns.isForBackground(account);
      end();
    };
    beforeEach(() => {
      turns = new AdmissionTurns({ now: () => now, gapMs: GAP_MS });
    });

    it('have a gap between them while a caller of another account waits for a PDF', async () => {
      await background('flood');
      now += GAP_MS + 1;
      turns.isAwaited('other');
      await askMany('flood', 10);
      assert.equal(running('flood'), 1);
      await endOne('flood');
      assert.equal(running('flood'), 0, 'the gap is not over');
      now += GAP_MS + 1;
      await eventually('it goes on by itself', () => running('flood') === 1);
      await endOne('flood');
      now += 5001;
      await eventually('nobody waits any more', () => running('flood') > 1);
    });

    it('have none beside callers of their own account, nor where nothing is rendered beside them', async () => {
      await background('flood');
      turns.isAwaited('flood');
      turns.isForBackground('flood');
      await askMany('flood', 3);
      assert.equal(running('flood'), 3);
      turns = new AdmissionTurns({ now: () => now });
      begun.clear();
      await background('flood');
      turns.isAwaited('other');
      await askMany('flood', 3);
      assert.equal(running('flood'), 3);
    });

    it('do not hold up those of accounts whose callers wait', async () => {
      turns.isAwaited('other');
      for (let i = 0; i < 3; i += 1) {
        await askMany('third', 1);
        assert.equal(running('third'), 1);
        await endOne('third');
        turns.isAwaited('third');
      }
    });
  });
});
