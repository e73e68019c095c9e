import assert from 'node:assert/strict';
import { FixedWindow } from '../../../src/infra/store/fixed-window.ts';

describe('A fixed window', () => {
  const time = { now: 0 };
  const windows = new FixedWindow(1000, { now: () => new Date(time.now) });

  it('is the same until it ends, and another one after that', () => {
    time.now = 5000;
    assert.deepEqual(windows.of('a'), { id: 'a:5', endsAt: new Date(6000), leftMs: 1000 });
    time.now = 5999;
    assert.deepEqual(windows.of('a'), { id: 'a:5', endsAt: new Date(6000), leftMs: 1 });
    time.now = 6000;
    assert.deepEqual(windows.of('a'), { id: 'a:6', endsAt: new Date(7000), leftMs: 1000 });
  });

  it('is separate for each key', () => {
    assert.notEqual(windows.of('a').id, windows.of('b').id);
  });

  it('begins later for a key whose windows are shifted', () => {
    time.now = 5299;
    assert.deepEqual(windows.of('a', 300), { id: 'a:4', endsAt: new Date(5300), leftMs: 1 });
    time.now = 5300;
    assert.deepEqual(windows.of('a', 300), { id: 'a:5', endsAt: new Date(6300), leftMs: 1000 });
    time.now = 100;
    assert.deepEqual(windows.of('a', 300), { id: 'a:-1', endsAt: new Date(300), leftMs: 200 });
  });
});
