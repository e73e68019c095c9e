import assert from 'node:assert/strict';
import { RecentHosts } from '../../../src/infra/egress/recent-hosts.ts';

function at(start: number, ttlMs = 1000, capacity = 3) {
  const time = { now: start };
  return { time, recent: new RecentHosts({ clock: { now: () => new Date(time.now) }, ttlMs, capacity }) };
}

describe('recent hosts', () => {
  it('cover the time since a render began, not earlier renders', () => {
    const { time, recent } = at(5000);
    recent.add('a.example');
    assert.equal(recent.hasSince('a.example', 5000), true);
    assert.equal(recent.hasSince('a.example', 5001), false);
    assert.equal(recent.hasSince('b.example', 0), false);
    time.now = 5999;
    assert.equal(recent.hasSince('a.example', 5000), true);
    time.now = 6000;
    assert.equal(recent.hasSince('a.example', 5000), false);
  });

  it('find a host however a URL writes it', () => {
    const { recent } = at(0);
    recent.add('::1');
    recent.add('a.example');
    assert.equal(recent.hasSince('[::1]', 0), true);
    assert.equal(recent.hasSince('A.example.', 0), true);
    assert.equal(recent.hasSince('', 0), false);
  });

  it('drop the oldest beyond their capacity and time, and stay that small', () => {
    const { time, recent } = at(0);
    for (const host of ['a', 'b', 'c', 'a', 'd']) recent.add(host);
    assert.deepEqual(
      ['a', 'b', 'c', 'd'].map((host) => recent.hasSince(host, 0)),
      [true, false, true, true],
    );
    time.now = 10_000;
    recent.add('e');
    assert.equal(recent.size, 1);
  });
});
