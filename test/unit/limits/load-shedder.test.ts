import assert from 'node:assert/strict';
import { LoadShedder } from '../../../src/limits/load-shedder.ts';

const at = (seconds: number) => new Date(seconds * 1000);

describe('the load shedder', () => {
  it('refuses nothing below the bound, and everything at it', () => {
    const shedder = new LoadShedder(100);
    assert.equal(shedder.refusal(), undefined);
    shedder.observe(99, at(0));
    assert.equal(shedder.refusal(), undefined);
    shedder.observe(100, at(1));
    assert.equal(shedder.refusal()?.code, 'UNAVAILABLE');
    shedder.observe(99, at(2));
    assert.equal(shedder.refusal(), undefined);
  });

  it('keeps room for plans with a price', () => {
    const shedder = new LoadShedder(100, 80);
    shedder.observe(79, at(0));
    assert.equal(shedder.refusal(false), undefined);
    shedder.observe(80, at(1));
    assert.equal(shedder.refusal(false)?.code, 'UNAVAILABLE');
    assert.equal(shedder.refusal(true), undefined);
    shedder.observe(100, at(2));
    assert.equal(shedder.refusal(true)?.code, 'UNAVAILABLE');
  });

  it('names the time in which what is too much will be done, at the pace seen', () => {
    const shedder = new LoadShedder(100);
    shedder.observe(160, at(0));
    assert.equal(shedder.refusal()?.retryAfterSeconds, 6);
    shedder.observe(140, at(4));
    // 41 too many at 5 a second, and a second until the next count.
    assert.equal(shedder.refusal()?.retryAfterSeconds, 10);
    shedder.observe(130, at(6));
    assert.equal(shedder.refusal()?.retryAfterSeconds, 8);
    shedder.observe(100, at(12));
    assert.equal(shedder.refusal()?.retryAfterSeconds, 2);
  });

  it('remembers the pace for the next time, and never asks for more than a minute', () => {
    const shedder = new LoadShedder(100);
    shedder.observe(120, at(0));
    shedder.observe(110, at(10));
    shedder.observe(50, at(20));
    shedder.observe(104, at(30));
    assert.equal(shedder.refusal()?.retryAfterSeconds, 6);
    shedder.observe(100_000, at(31));
    assert.equal(shedder.refusal()?.retryAfterSeconds, 60);
  });
});
