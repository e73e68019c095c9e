import assert from 'node:assert/strict';
import { boundedLookup, isNoSuchName, systemLookup } from '../../../src/egress/lookup.ts';
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
    const running: PromiseWithResolvers<readonly string[]>[] = [];
    const lookup = boundedLookup(
      () => {
        const answer = Promise.withResolvers<readonly string[]>();
        running.push(answer);
        return answer.promise;
      },
      { atATime: 2, waiting: 2 },
    );
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

  it('by default know the names of the operating system', async () => {
    const lookup = systemLookup();
    assert.ok((await lookup('localhost')).some((address) => address === '127.0.0.1' || address === '::1'));
    // More at a time than there are places: the others wait for their turn.
    const many = await Promise.all(Array.from({ length: 12 }, () => lookup('localhost')));
    assert.equal(many.length, 12);
  });
});
