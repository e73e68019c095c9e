import assert from 'node:assert/strict';
import { PlatenError } from '../../../src/errors/registry.ts';
import { BytesInFlight } from '../../../src/limits/bytes-in-flight.ts';

const never = () => assert.fail('was ended');

describe('bytes in flight', () => {
  let held: BytesInFlight;
  beforeEach(() => {
    held = new BytesInFlight({ total: 100, perOwner: 40 });
  });

  it('are bounded for one owner, and given back once', () => {
    const first = held.begin('a', 30, never);
    assert.throws(() => held.begin('a', 11, never), { code: 'TOO_MANY_UPLOADS', retryAfterSeconds: 1 });
    held.begin('a', 10, never);
    first.release();
    first.release();
    assert.equal(held.total, 10);
    held.begin('a', 30, never);
  });

  it('count what comes without having been announced', () => {
    const body = held.begin('a', 0, never);
    body.grow(40);
    assert.throws(() => body.grow(1), { code: 'TOO_MANY_UPLOADS' });
    assert.equal(held.total, 0);
  });

  it('of whoever holds most make room for somebody who holds less', () => {
    const ended: string[] = [];
    const note = (name: string) => (error: PlatenError) => ended.push(`${name} ${error.code}`);
    held.begin('a', 40, note('a'));
    held.begin('b', 30, note('b'));
    held.begin('c', 30, note('c'));
    held.begin('d', 20, note('d'));
    assert.deepEqual(ended, ['a UNAVAILABLE']);
    assert.equal(held.total, 80);
  });

  it('do not make room for somebody who would hold as much, nor when they are all here', () => {
    const bodies = ['a', 'b', 'c'].map((name) => held.begin(name, 33, never));
    assert.throws(() => held.begin('d', 33, never), { code: 'UNAVAILABLE' });
    for (const body of bodies) body.arrived();
    assert.throws(
      () => held.begin('d', 2, never),
      (error: PlatenError) => {
        assert.deepEqual([error.code, error.retryAfterSeconds], ['UNAVAILABLE', 1]);
        return error instanceof PlatenError;
      },
    );
    assert.equal(held.total, 99);
  });
});
