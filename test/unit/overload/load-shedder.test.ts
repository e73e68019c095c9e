import assert from 'node:assert/strict';
import { LoadShedder } from '../../../src/infra/overload/load-shedder.ts';

const at = (seconds: number) => new Date(seconds * 1000);

describe('The load shedder', () => {
  it('rejects nothing below the bound, and everything at it', () => {
    const shedder = new LoadShedder(100);
    assert.equal(shedder.rejection(), undefined);
    shedder.observe(99, at(0));
    assert.equal(shedder.rejection(), undefined);
    shedder.observe(100, at(1));
    assert.equal(shedder.rejection()?.code, 'UNAVAILABLE');
    shedder.observe(99, at(2));
    assert.equal(shedder.rejection(), undefined);
  });

  it('keeps capacity for plans with a price', () => {
    const shedder = new LoadShedder(100, 80);
    shedder.observe(79, at(0));
    assert.equal(shedder.rejection(false), undefined);
    shedder.observe(80, at(1));
    assert.equal(shedder.rejection(false)?.code, 'UNAVAILABLE');
    assert.equal(shedder.rejection(true), undefined);
    shedder.observe(100, at(2));
    assert.equal(shedder.rejection(true)?.code, 'UNAVAILABLE');
  });

  it('sets Retry-After to the time in which the queue falls below its limit at the observed rate', () => {
    const shedder = new LoadShedder(100);
    shedder.observe(160, at(0));
    assert.equal(shedder.rejection()?.retryAfterSeconds, 6);
    shedder.observe(140, at(4));
    // 41 jobs too many at 5 a second, and one second until the next count.
    assert.equal(shedder.rejection()?.retryAfterSeconds, 10);
    shedder.observe(130, at(6));
    assert.equal(shedder.rejection()?.retryAfterSeconds, 8);
    shedder.observe(100, at(12));
    assert.equal(shedder.rejection()?.retryAfterSeconds, 2);
  });

  it('remembers the rate for the next time, and never sets more than a minute', () => {
    const shedder = new LoadShedder(100);
    shedder.observe(120, at(0));
    shedder.observe(110, at(10));
    shedder.observe(50, at(20));
    shedder.observe(104, at(30));
    assert.equal(shedder.rejection()?.retryAfterSeconds, 6);
    shedder.observe(100_000, at(31));
    assert.equal(shedder.rejection()?.retryAfterSeconds, 60);
  });
});
