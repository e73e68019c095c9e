import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { isNoSuchName, queued, systemLookup } from '../../../src/infra/egress/lookup.ts';
import type { LookupBounds } from '../../../src/infra/scheduling/lookups.ts';
import { eventually } from '../../support/eventually.ts';
import { NameServer } from './support/name-server.ts';

describe('name lookups', () => {
  let names: NameServer;
  before(async () => {
    names = await NameServer.start();
  });
  after(() => names.close());

  it('query a name server for both families', async () => {
    names.set('both.test', ['192.0.2.1', '2001:db8::1', '192.0.2.2']);
    assert.deepEqual(await names.lookup()('both.test'), ['192.0.2.1', '192.0.2.2', '2001:db8::1']);
    assert.deepEqual(names.questions.sort(), ['A both.test', 'AAAA both.test']);
  });

  it('need only one family', async () => {
    names.set('four.test', ['192.0.2.1']);
    names.set('six.test', ['2001:db8::1']);
    assert.deepEqual(await names.lookup()('four.test'), ['192.0.2.1']);
    assert.deepEqual(await names.lookup()('six.test'), ['2001:db8::1']);
  });

  it('distinguish "no such name" and "no address" from a name server that fails', async () => {
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

  it('can be aborted, without waiting for the name server', async () => {
    const given = new AbortController();
    const response = names.lookup()('silent.given-up.test', given.signal);
    await eventually('it is asked', () => names.asked('A', 'silent.given-up.test') > 0);
    given.abort();
    await assert.rejects(response, { code: 'ECANCELLED' });
    await assert.rejects(names.lookup()('both.test', given.signal), { name: 'AbortError' });
  });

  it('are bounded: a few run, some wait, and the rest are rejected with EBUSY', async () => {
    const { running, lookup: ofAnybody } = heldLookup({
      concurrent: 2,
      concurrentOfAccount: 2,
      maxWaitingOfAccount: 2,
    });
    const lookup = (name: string, signal?: AbortSignal) => ofAnybody(name, signal, 'account');
    const given = new AbortController();
    const responses = [lookup('a'), lookup('b'), lookup('c', given.signal), lookup('d')];
    await assert.rejects(lookup('e'), { code: 'EBUSY' });
    assert.equal(running.length, 2);
    // An aborted look-up makes room for another.
    given.abort();
    await assert.rejects(responses[2]!, { name: 'AbortError' });
    const sixth = lookup('f');
    for (const response of running) response.resolve(['192.0.2.1']);
    await Promise.all([responses[0], responses[1]]);
    await eventually('the next two are asked', () => running.length === 4);
    for (const response of running) response.resolve(['192.0.2.2']);
    assert.deepEqual(await Promise.all([responses[3], sixth]), [['192.0.2.2'], ['192.0.2.2']]);
  });

  it('are granted to accounts in rotation, and to one account up to its bound', async () => {
    const { running, asked, lookup } = heldLookup({
      concurrent: 3,
      concurrentOfAccount: 2,
      maxWaitingOfAccount: 100,
    });
    const all = [1, 2, 3, 4, 5, 6].map((n) => lookup(`greedy${n}`, undefined, 'greedy'));
    await pause(1);
    assert.deepEqual(asked, ['greedy1', 'greedy2'], 'two of the three places are one account’s');
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

  it('that are slow hold up their own account alone', async () => {
    const { asked, lookup } = heldLookup({
      concurrent: 2,
      concurrentOfAccount: 2,
      maxWaitingOfAccount: 100,
      slowMs: 50,
    });
    for (const n of [1, 2, 3, 4]) void lookup(`slow${n}`, undefined, 'attacker');
    void lookup('quick', undefined, 'neighbour');
    await pause(1);
    assert.deepEqual(asked, ['slow1', 'slow2']);
    await eventually('the neighbour has its turn', () => asked.includes('quick'));
    assert.deepEqual(asked, ['slow1', 'slow2', 'quick']);
  });

  it('of an account with hundreds of slow names do not make another wait until they end', async () => {
    names.set('quick.test', ['192.0.2.1']);
    // A look-up does not end before it is aborted.
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

  it('know the names of the operating system by default', async () => {
    const lookup = systemLookup();
    assert.ok((await lookup('localhost')).some((address) => address === '127.0.0.1' || address === '::1'));
    // More at a time than the bound: the others wait.
    const many = await Promise.all(Array.from({ length: 12 }, () => lookup('localhost')));
    assert.equal(many.length, 12);
  });
});

/** A bounded look-up that resolves on demand; and the names looked up so far, in order. */
function heldLookup(bounds: LookupBounds) {
  const running: PromiseWithResolvers<readonly string[]>[] = [];
  const asked: string[] = [];
  const lookup = queued((name) => {
    const response = Promise.withResolvers<readonly string[]>();
    running.push(response);
    asked.push(name);
    return response.promise;
  }, bounds);
  return { running, asked, lookup };
}
