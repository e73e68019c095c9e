import assert from 'node:assert/strict';
import { daysBetween, type Hour, spansOf } from '../../../src/tenants/usage/log-layout.ts';

/** Three hours of a busy series, the latest first. */
const HOURS: Hour[] = [
  { at: '2026-03-02T01', total: 30, endpoints: {} },
  { at: '2026-03-01T23', total: 120, endpoints: {} },
  { at: '2026-03-01T09', total: 5, endpoints: {} },
];

describe('Where the entries of a page of the log lie', () => {
  const newest = (limit: number, offset: number) => spansOf(HOURS, { limit, offset, newestFirst: true });

  it('the newest are at the end of the last hour', () => {
    assert.deepEqual(newest(20, 0), [{ hour: '2026-03-02T01', from: 10, to: 30, segments: [0] }]);
  });

  it('a page reaches into the hour before, and names only the segments it needs', () => {
    assert.deepEqual(newest(20, 20), [
      { hour: '2026-03-02T01', from: 0, to: 10, segments: [0] },
      { hour: '2026-03-01T23', from: 110, to: 120, segments: [2] },
    ]);
    assert.deepEqual(newest(100, 40), [{ hour: '2026-03-01T23', from: 10, to: 110, segments: [0, 1, 2] }]);
    assert.deepEqual(newest(20, 149), [
      { hour: '2026-03-01T23', from: 0, to: 1, segments: [0] },
      { hour: '2026-03-01T09', from: 0, to: 5, segments: [0] },
    ]);
  });

  it('past the end there is nothing', () => {
    assert.deepEqual(newest(20, 155), []);
    assert.deepEqual(spansOf([], { limit: 20, offset: 0, newestFirst: true }), []);
  });

  it('all pages together name every entry once, in either order', () => {
    for (const newestFirst of [true, false]) {
      const hours = newestFirst ? HOURS : HOURS.toReversed();
      const seen: string[] = [];
      for (let offset = 0; offset < 155; offset += 7) {
        for (const { hour, from, to } of spansOf(hours, { limit: 7, offset, newestFirst })) {
          for (let position = from; position < to; position += 1) seen.push(`${hour} ${position}`);
        }
      }
      assert.equal(seen.length, 155);
      assert.equal(new Set(seen).size, 155);
    }
  });

  it('days are counted in UTC, both ends among them', () => {
    const days = daysBetween(new Date('2026-02-27T23:00:00Z'), new Date('2026-03-01T00:00:00Z'));
    assert.deepEqual(days, ['2026-02-27', '2026-02-28', '2026-03-01']);
  });
});
