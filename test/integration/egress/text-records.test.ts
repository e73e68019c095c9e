import assert from 'node:assert/strict';
import { textLookup } from '../../../src/infra/egress/text-records.ts';
import { eventually } from '../../support/eventually.ts';
import { NameServer } from './support/name-server.ts';

describe('TXT records', () => {
  let names: NameServer;
  before(async () => {
    names = await NameServer.start();
  });
  after(() => names.close());

  const lookup = (timeout = 10_000) => textLookup(() => names.resolver({ timeout, tries: 1 }));

  it('are read whole, all of a name', async () => {
    names.setTexts('_platen.a.test', [['v=spf1 -all'], ['platen-domain=', 'x'.repeat(200), 'y'.repeat(100)]]);
    const long = `platen-domain=${'x'.repeat(200)}${'y'.repeat(100)}`;
    assert.deepEqual([...(await lookup()('_platen.a.test', 'account'))].sort(), [long, 'v=spf1 -all'].sort());
  });

  it('are none of a name that has none, or does not exist', async () => {
    names.setTexts('_platen.empty.test', []);
    for (const name of ['_platen.empty.test', '_platen.missing.test'])
      assert.deepEqual(await lookup()(name, 'account'), []);
  });

  it('are not known where the name server refuses or does not answer', async () => {
    for (const name of ['broken.test', 'silent.test'])
      await assert.rejects(lookup(500)(name, 'account'), name);
  });

  it('are asked for by one account one at a time, and not by others behind it', async () => {
    const ask = lookup(3000);
    const own = (i: number) => ask(`silent.${i}.test`, 'one');
    // They are not waited for.
    for (let i = 1; i <= 6; i += 1) own(i).catch(() => undefined);
    await eventually('the first is asked', () => names.asked('TXT', 'silent.1.test') > 0);
    await assert.rejects(own(7), { code: 'EBUSY' });
    names.setTexts('_platen.b.test', [['b']]);
    assert.deepEqual(await ask('_platen.b.test', 'other'), ['b']);
    assert.equal(names.asked('TXT', 'silent.2.test'), 0);
  });
});
