import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { openStreams, reserveStream } from '../../../src/infra/overload/open-streams.ts';
import type { Reservations } from '../../../src/infra/overload/reservations.ts';

describe('Open streams', () => {
  let open: Reservations;
  beforeEach(() => {
    open = openStreams({ perOwner: 3, inAll: 5 }, 'things');
  });

  const begin = (accountId: string) => reserveStream(open, accountId).hold(new PassThrough());

  it('are bounded for one account, and make room when they are closed', async () => {
    const [first] = ['a', 'a', 'a'].map(begin);
    assert.throws(() => reserveStream(open, 'a'), {
      code: 'TOO_MANY_WAITING',
      retryAfterSeconds: 5,
      message: '3 things of this account are open already.',
    });
    first!.destroy();
    await once(first!, 'close');
    begin('a');
    assert.throws(() => reserveStream(open, 'a'), { code: 'TOO_MANY_WAITING' });
  });

  it('count from before there is a stream, until it turns out that there is none', () => {
    const reservations = [0, 1, 2].map(() => reserveStream(open, 'a'));
    assert.throws(() => reserveStream(open, 'a'), { code: 'TOO_MANY_WAITING' });
    reservations[0]!.release();
    reservations[0]!.release();
    reserveStream(open, 'a');
    assert.throws(() => reserveStream(open, 'a'), { code: 'TOO_MANY_WAITING' });
  });

  it('of the account with the most are evicted for an account with fewer, the newest first', () => {
    const [first, second, third] = ['a', 'a', 'a'].map(begin);
    const others = ['b', 'b'].map(begin);
    begin('c');
    assert.deepEqual(
      [first, second, third, ...others].map((stream) => stream!.destroyed),
      [false, false, true, false, false],
    );
  });

  it('are not evicted for an account that would have as many', () => {
    const streams = ['a', 'a', 'b', 'b', 'c'].map(begin);
    assert.throws(() => reserveStream(open, 'c'), { code: 'UNAVAILABLE', retryAfterSeconds: 5 });
    assert.deepEqual(
      streams.filter(({ destroyed }) => destroyed),
      [],
    );
  });

  it('keep their reservation when it passes from the source to the response, until that is closed', async () => {
    const reservation = reserveStream(open, 'a');
    const [read, written] = [new PassThrough(), new PassThrough()];
    reservation.hold(read);
    reservation.hold(written);
    for (let i = 0; i < 2; i += 1) reserveStream(open, 'a');
    read.destroy();
    await once(read, 'close');
    assert.throws(() => reserveStream(open, 'a'), { code: 'TOO_MANY_WAITING' });
    for (const account of ['b', 'b', 'c']) begin(account);
    written.destroy();
    await once(written, 'close');
    reserveStream(open, 'a');
  });

  it('are destroyed when their reservation was evicted before', () => {
    const reservation = [reserveStream(open, 'a'), reserveStream(open, 'a'), reserveStream(open, 'a')].at(
      -1,
    )!;
    for (const account of ['b', 'b', 'c']) begin(account);
    assert.equal(reservation.hold(new PassThrough()).destroyed, true);
  });
});
