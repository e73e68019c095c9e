import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { OpenStreams } from '../../../src/limits/open-streams.ts';

describe('open streams', () => {
  let open: OpenStreams;
  beforeEach(() => {
    open = new OpenStreams({ perAccount: 3, inAll: 5, what: 'things' });
  });

  const begin = (accountId: string) => open.take(accountId).hold(new PassThrough());

  it('are bounded for one account; one that is closed makes room', async () => {
    const [first] = ['a', 'a', 'a'].map(begin);
    assert.throws(() => open.take('a'), {
      code: 'TOO_MANY_WAITING',
      retryAfterSeconds: 5,
      message: '3 things of this account are open already.',
    });
    first!.destroy();
    await once(first!, 'close');
    begin('a');
    assert.throws(() => open.take('a'), { code: 'TOO_MANY_WAITING' });
  });

  it('count from before there is a stream, and not when there is none after all', () => {
    const places = [0, 1, 2].map(() => open.take('a'));
    assert.throws(() => open.take('a'), { code: 'TOO_MANY_WAITING' });
    places[0]!.release();
    places[0]!.release();
    open.take('a');
    assert.throws(() => open.take('a'), { code: 'TOO_MANY_WAITING' });
  });

  it('of whoever has most make room for somebody who has fewer, the one that was begun last', () => {
    const [first, second, third] = ['a', 'a', 'a'].map(begin);
    const others = ['b', 'b'].map(begin);
    begin('c');
    assert.deepEqual(
      [first, second, third, ...others].map((stream) => stream!.destroyed),
      [false, false, true, false, false],
    );
  });

  it('do not make room for somebody who would have as many', () => {
    const streams = ['a', 'a', 'b', 'b', 'c'].map(begin);
    assert.throws(() => open.take('c'), { code: 'UNAVAILABLE', retryAfterSeconds: 5 });
    assert.deepEqual(
      streams.filter(({ destroyed }) => destroyed),
      [],
    );
  });

  it('keep their place when it is given on from what is read to what it is written to, until that is closed', async () => {
    const place = open.take('a');
    const [read, written] = [new PassThrough(), new PassThrough()];
    place.hold(read);
    place.hold(written);
    for (let i = 0; i < 2; i += 1) open.take('a');
    read.destroy();
    await once(read, 'close');
    assert.throws(() => open.take('a'), { code: 'TOO_MANY_WAITING' });
    for (const account of ['b', 'b', 'c']) begin(account);
    written.destroy();
    await once(written, 'close');
    open.take('a');
  });

  it('end one that only gets its stream after it has had to make room', () => {
    const place = [open.take('a'), open.take('a'), open.take('a')].at(-1)!;
    for (const account of ['b', 'b', 'c']) begin(account);
    assert.equal(place.hold(new PassThrough()).destroyed, true);
  });
});
