import assert from 'node:assert/strict';
import { isNoSuchName, systemLookup } from '../../../src/egress/lookup.ts';
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

  it('by default know the names of the operating system', async () => {
    const lookup = systemLookup();
    assert.ok((await lookup('localhost')).some((address) => address === '127.0.0.1' || address === '::1'));
    // More at a time than there are places: the others wait for their turn.
    const many = await Promise.all(Array.from({ length: 12 }, () => lookup('localhost')));
    assert.equal(many.length, 12);
  });
});
