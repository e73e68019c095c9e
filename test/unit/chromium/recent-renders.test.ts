import assert from 'node:assert/strict';
import { RecentRenders } from '../../../src/render/chromium/browsers/recent-renders.ts';

describe('the renders of a browser', () => {
  let now: number;
  let renders: RecentRenders;
  beforeEach(() => {
    now = 1000;
    renders = new RecentRenders(() => now);
  });

  it('that ran between two times are known by their accounts, each once', () => {
    const endFirst = renders.begin('first');
    renders.begin('running');
    renders.begin('running');
    now = 2000;
    endFirst();
    now = 3000;
    renders.begin('late');
    assert.deepEqual(renders.accountsBetween(1500, 2500), ['first', 'running']);
    assert.deepEqual(renders.accountsBetween(2500, 2900), ['running']);
    assert.deepEqual(renders.accountsBetween(3000, 3000), ['running', 'late']);
    assert.deepEqual(renders.accountsBetween(0, 999), []);
  });

  it('are known to run still', () => {
    const end = renders.begin('first');
    now = 2000;
    renders.begin('second');
    assert.equal(renders.someRunsSince(1500), true);
    end();
    assert.equal(renders.someRunsSince(1500), false);
    assert.equal(renders.someRunsSince(2000), true);
  });

  it('are forgotten some seconds after their end, and not before', () => {
    renders.begin('ended')();
    renders.begin('running');
    now += 4000;
    renders.forget();
    assert.deepEqual(renders.accountsBetween(0, now), ['ended', 'running']);
    now += 4000;
    renders.forget();
    assert.deepEqual(renders.accountsBetween(0, now), ['running']);
  });
});
