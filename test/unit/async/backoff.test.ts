import assert from 'node:assert/strict';
import { backoffMs, doublingMs, spreadMs } from '../../../src/infra/async/backoff.ts';

describe('the back-off', () => {
  it('doubles with every failure, up to its bound', () => {
    const longest = (failures: number) => backoffMs(failures, 100, 1000, () => 1);
    assert.deepEqual([1, 2, 3, 4, 5, 60].map(longest), [100, 200, 400, 800, 1000, 1000]);
  });

  it('is spread over its upper half', () => {
    assert.equal(
      backoffMs(3, 100, 1000, () => 0),
      200,
    );
    assert.equal(
      backoffMs(3, 100, 1000, () => 0.5),
      300,
    );
  });

  it('doubles without randomness where several processes must not differ', () => {
    assert.deepEqual(
      [0, 1, 2, 3, 60].map((failures) => doublingMs(failures, 100, 1000)),
      [100, 100, 200, 400, 1000],
    );
  });

  it('keeps a requested wait, and adds up to a fifth', () => {
    assert.equal(
      spreadMs(1000, () => 0),
      1000,
    );
    assert.equal(
      spreadMs(1000, () => 0.5),
      1100,
    );
  });

  it('grows without a bound when that is infinite', () => {
    assert.equal(
      backoffMs(11, 1, Number.POSITIVE_INFINITY, () => 1),
      1024,
    );
  });
});
