import assert from 'node:assert/strict';
import { Fullness } from '../../../src/limits/fullness.ts';

const at = (seconds: number) => new Date(seconds * 1000);

describe('Fullness of the whole system', () => {
  it('refuses nothing below the bound, and everything at it', () => {
    const fullness = new Fullness(100);
    assert.equal(fullness.refusal(), undefined);
    fullness.observe(99, at(0));
    assert.equal(fullness.refusal(), undefined);
    fullness.observe(100, at(1));
    assert.equal(fullness.refusal()?.code, 'UNAVAILABLE');
    fullness.observe(99, at(2));
    assert.equal(fullness.refusal(), undefined);
  });

  it('names the time in which what is too much will be done, at the pace seen', () => {
    const fullness = new Fullness(100);
    fullness.observe(160, at(0));
    assert.equal(fullness.refusal()?.retryAfterSeconds, 6);
    fullness.observe(140, at(4));
    // 41 too many at 5 a second, and a second until the next count.
    assert.equal(fullness.refusal()?.retryAfterSeconds, 10);
    fullness.observe(130, at(6));
    assert.equal(fullness.refusal()?.retryAfterSeconds, 8);
    fullness.observe(100, at(12));
    assert.equal(fullness.refusal()?.retryAfterSeconds, 2);
  });

  it('remembers the pace for the next time, and never asks for more than a minute', () => {
    const fullness = new Fullness(100);
    fullness.observe(120, at(0));
    fullness.observe(110, at(10));
    fullness.observe(50, at(20));
    fullness.observe(104, at(30));
    assert.equal(fullness.refusal()?.retryAfterSeconds, 6);
    fullness.observe(100_000, at(31));
    assert.equal(fullness.refusal()?.retryAfterSeconds, 60);
  });
});
