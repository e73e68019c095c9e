import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { isNoSuchName, systemLookup } from '../../../src/egress/lookup.ts';
import { inTurns, type LookupBounds } from '../../../src/egress/lookup-turns.ts';
import { eventually } from '../../support/eventually.ts';
import { NameServer } from './support/name-server.ts';

describe('look-ups', () => {
  let names: NameServer;
  before(async () => {
    names = await NameServer.start();
  });
  after(() => names.close());

  it('ask a name server for both families', async () => {
    names.set('both.test', ['192.0.2.1', '2001:db8::1', '192.0.2.2']);
    assert.deepEqual(await names.lookup()('both.test'), ['192.0.2.1', '192.0.2.2', '2001:db8::1']);
    assert.deepEqual(names.questions.sort(), ['A both.test', 'AAAA both.test']);
  });

  it('are content with one family', async () => {
    names.set('four.test', ['192.0.2.1']);
    names.set('six.test', ['2001:db8::1']);
    assert.deepEqual(await names.lookup()('four.test'), ['192.0.2.1']);
    assert.deepEqual(await names.lookup()('six.test'), ['2001:db8::1']);
  });

  it('tell "no such name" and "no address" from a name server that fails', async () => {
    names.set('empty.test', []);
    for (const [name, none] of [
      ['missing.test', true],
      ['empty.test', true],
      ['broken.test', false],
      ['silent.test', false],
    ] as const) {
      await assert.rejects(names.lookup()(name), (error) => isNoSuchName(error) === none, name);
    }
  });

  it('can be given up, without waiting for the name server', async () => {
    const given = new AbortController();
    const answer = names.lookup()('silent.given-up.test', given.signal);
    await eventually('it is asked', () => names.asked('A', 'silent.given-up.test') > 0);
    given.abort();
    await assert.rejects(answer, { code: 'ECANCELLED' });
    await assert.rejects(names.lookup()('both.test', given.signal), { name: 'AbortError' });
  });

  it('are bounded: a few at a time, some wait, and the rest is told so', async () => {
    const { running, lookup: ofAnybody } = heldLookup({ atATime: 2, ofOne: 2, waitingOfOne: 2 });
    const lookup = (name: string, signal?: AbortSignal) => ofAnybody(name, signal, 'account');
    const given = new AbortController();
    const answers = [lookup('a'), lookup('b'), lookup('c', given.signal), lookup('d')];
    await assert.rejects(lookup('e'), { code: 'EBUSY' });
    assert.equal(running.length, 2);
    // Who is given up makes room for another.
    given.abort();
    await assert.rejects(answers[2]!, { name: 'AbortError' });
    const sixth = lookup('f');
    for (const answer of running) answer.resolve(['192.0.2.1']);
    await Promise.all([answers[0], answers[1]]);
    await eventually('the next two are asked', () => running.length === 4);
    for (const answer of running) answer.resolve(['192.0.2.2']);
    assert.deepEqual(await Promise.all([answers[3], sixth]), [['192.0.2.2'], ['192.0.2.2']]);
  });

  it('are one of each asker in turn, and so many of one at a time', async () => {
    const { running, asked, lookup } = heldLookup({ atATime: 3, ofOne: 2, waitingOfOne: 100 });
    const all = [1, 2, 3, 4, 5, 6].map((n) => lookup(`greedy${n}`, undefined, 'greedy'));
    await pause(1);
    assert.deepEqual(asked, ['greedy1', 'greedy2'], 'two of the three places are one asker’s');
    all.push(lookup('a1', undefined, 'a'), lookup('a2', undefined, 'a'), lookup('b1', undefined, 'b'));
    await pause(1);
    assert.deepEqual(asked.slice(2), ['a1']);
    for (let at = 0; at < all.length; at++) {
      await eventually('the next is asked', () => running.length > at);
      running[at]!.resolve(['192.0.2.1']);
    }
    await Promise.all(all);
    assert.ok(asked.indexOf('b1') < 6 && asked.indexOf('a2') < 6, `they were asked in turns: ${asked}`);
    assert.equal(asked.at(-1), 'greedy6');
  });

  it('that are slow keep nobody from being asked for, but their asker', async () => {
    const { asked, lookup } = heldLookup({ atATime: 2, ofOne: 2, waitingOfOne: 100, slowMs: 50 });
    for (const n of [1, 2, 3, 4]) void lookup(`slow${n}`, undefined, 'attacker');
    void lookup('quick', undefined, 'neighbour');
    await pause(1);
    assert.deepEqual(asked, ['slow1', 'slow2']);
    await eventually('the neighbour has its turn', () => asked.includes('quick'));
    assert.deepEqual(asked, ['slow1', 'slow2', 'quick']);
  });

  it('of an account with hundreds of slow names keep none of another waiting until they end', async () => {
    names.set('quick.test', ['192.0.2.1']);
    // None of them ends before it is given up.
    const lookup = systemLookup(() => names.resolver({ timeout: 600_000, tries: 1 }));
    let ended = 0;
    const given = new AbortController();
    const slow = Array.from({ length: 20 }, (_, account) =>
      Array.from({ length: 250 }, (_, n) =>
        lookup(`silent.n${n}.a${account}.test`, given.signal, `attacker${account}`).catch(() => {
          ended += 1;
        }),
      ),
    ).flat();
    await pause(50);
    assert.deepEqual(await lookup('quick.test', undefined, 'neighbour'), ['192.0.2.1']);
    assert.equal(ended, 0);
    given.abort();
    await Promise.all(slow);
  });

  it('by default know the names of the operating system', async () => {
    const lookup = systemLookup();
    assert.ok((await lookup('localhost')).some((address) => address === '127.0.0.1' || address === '::1'));
    // More at a time than there are places: the others wait for their turn.
    const many = await Promise.all(Array.from({ length: 12 }, () => lookup('localhost')));
    assert.equal(many.length, 12);
  });
});

/** A look-up that answers when it is told to, bounded; and what it has been asked for so far, in order. */
function heldLookup(bounds: LookupBounds) {
  const running: PromiseWithResolvers<readonly string[]>[] = [];
  const asked: string[] = [];
  const lookup = inTurns((name) => {
    const answer = Promise.withResolvers<readonly string[]>();
    running.push(answer);
    asked.push(name);
    return answer.promise;
  }, bounds);
  return { running, asked, lookup };
}
