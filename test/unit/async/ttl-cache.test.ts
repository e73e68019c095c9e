import assert from 'node:assert/strict';
import { TtlCache } from '../../../src/infra/async/ttl-cache.ts';

describe('the short-lived cache', () => {
  const make = (maxEntries = 10) => {
    let time = 0;
    let loads = 0;
    const cache = new TtlCache<string, number>(1000, maxEntries, { now: () => new Date(time) });
    return {
      cache,
      load: async () => {
        loads += 1;
        return loads;
      },
      pass: (ms: number) => {
        time += ms;
      },
    };
  };

  it('loads once within its time, and again after it', async () => {
    const { cache, load, pass } = make();
    assert.deepEqual(await Promise.all([cache.get('a', load), cache.get('a', load)]), [1, 1]);
    pass(999);
    assert.equal(await cache.get('a', load), 1);
    pass(1);
    assert.equal(await cache.get('a', load), 2);
  });

  it('loads again when the clock has been set back', async () => {
    const { cache, load, pass } = make();
    assert.equal(await cache.get('a', load), 1);
    pass(-86_400_000);
    assert.equal(await cache.get('a', load), 2);
    assert.equal(await cache.get('a', load), 2);
  });

  it('does not keep a failure', async () => {
    const { cache, load } = make();
    await assert.rejects(cache.get('a', () => Promise.reject(new Error('down'))));
    assert.equal(await cache.get('a', load), 1);
  });

  it('stays within its size: the oldest goes first', async () => {
    const { cache, load } = make(2);
    for (const key of ['a', 'b', 'c']) await cache.get(key, load);
    assert.equal(await cache.get('c', load), 3);
    assert.equal(await cache.get('a', load), 4);
  });

  it('forgets an entry on request', async () => {
    const { cache, load } = make();
    await cache.get('a', load);
    cache.forget('a');
    assert.equal(await cache.get('a', load), 2);
  });
});
