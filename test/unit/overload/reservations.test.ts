import assert from 'node:assert/strict';
import { PlatenError, toPlatenError } from '../../../src/infra/errors/registry.ts';
import { Reservations } from '../../../src/infra/overload/reservations.ts';

const never = () => assert.fail('was ended');

describe('Reservations', () => {
  let held: Reservations;
  beforeEach(() => {
    held = new Reservations({
      inAll: 100,
      perOwner: 40,
      evict: 'oldest',
      ownerExceeded: () => new PlatenError('TOO_MANY_UPLOADS', undefined, { retryAfterSeconds: 1 }),
      allExceeded: () => new PlatenError('UNAVAILABLE', undefined, { retryAfterSeconds: 1 }),
    });
  });

  it('are bounded for one owner, and released once', () => {
    const first = held.reserve('a', 30, never);
    assert.throws(() => held.reserve('a', 11, never), { code: 'TOO_MANY_UPLOADS', retryAfterSeconds: 1 });
    held.reserve('a', 10, never);
    first.release();
    first.release();
    assert.equal(held.total, 10);
    held.reserve('a', 30, never);
  });

  it('count weight that is added later', () => {
    const body = held.reserve('a', 0, never);
    body.grow(40);
    assert.throws(() => body.grow(1), { code: 'TOO_MANY_UPLOADS' });
    assert.equal(held.total, 0);
  });

  it('report the owners at their bound, and whether one more fits without an eviction', () => {
    const [first] = ['a', 'b', 'c'].map((name) => held.reserve(name, name === 'c' ? 20 : 40, never));
    assert.deepEqual(held.full(), ['a', 'b']);
    assert.deepEqual([held.free, held.hasRoom('a'), held.hasRoom('c')], [0, false, false]);
    first!.release();
    assert.deepEqual([held.free, held.hasRoom('a'), held.hasRoom('b')], [40, true, false]);
    assert.deepEqual([first!.held, held.full()], [false, ['b']]);
  });

  it('of the owner with the most weight are evicted for an owner with less', () => {
    const ended: string[] = [];
    const note = (name: string) => (error: Error) => ended.push(`${name} ${toPlatenError(error).code}`);
    held.reserve('a', 40, note('a'));
    held.reserve('b', 30, note('b'));
    held.reserve('c', 30, note('c'));
    held.reserve('d', 20, note('d'));
    assert.deepEqual(ended, ['a UNAVAILABLE']);
    assert.equal(held.total, 80);
  });

  it('are not evicted for an owner that would hold as much, nor when they are all kept', () => {
    const bodies = ['a', 'b', 'c'].map((name) => held.reserve(name, 33, never));
    assert.throws(() => held.reserve('d', 33, never), { code: 'UNAVAILABLE' });
    for (const body of bodies) body.keep();
    assert.throws(
      () => held.reserve('d', 2, never),
      (error: PlatenError) => {
        assert.deepEqual([error.code, error.retryAfterSeconds], ['UNAVAILABLE', 1]);
        return error instanceof PlatenError;
      },
    );
    assert.equal(held.total, 99);
  });
});
