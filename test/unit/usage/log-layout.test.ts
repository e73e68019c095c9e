import assert from 'node:assert/strict';
import { accountOf, idsBetween, newEntryId, runsOf } from '../../../src/tenants/usage/log-layout.ts';
import { daysBetween } from '../../../src/tenants/usage/periods.ts';

const HOUR_MS = 3_600_000;
const hour = (atMs: number, total: number, failed = 0) => ({
  atMs,
  counts: { '/v1/pdf': { total, ...(failed > 0 && { failed }) } },
});

/** Hours of two keys, in no order. */
const HOURS = [
  hour(10 * HOUR_MS, 70),
  hour(2 * HOUR_MS, 5, 5),
  hour(10 * HOUR_MS, 50),
  hour(11 * HOUR_MS, 30, 1),
];

describe('Where the entries of a page of the log lie', () => {
  const order = { offset: 0, newestFirst: true, atOnce: Number.POSITIVE_INFINITY };
  const runs = (changed: Partial<Parameters<typeof runsOf>[1]> = {}) =>
    runsOf(HOURS, { ...order, ...changed });

  it('all hours of a period are one run', () => {
    assert.deepEqual(runs(), {
      skip: 0,
      runs: [{ fromMs: 2 * HOUR_MS, toMs: 12 * HOUR_MS, entries: 155 }],
    });
  });

  it('hours before the page are left out by their counts, in either order', () => {
    assert.deepEqual(runs({ offset: 40 }), {
      skip: 10,
      runs: [{ fromMs: 2 * HOUR_MS, toMs: 11 * HOUR_MS, entries: 125 }],
    });
    assert.deepEqual(runs({ offset: 5, newestFirst: false }), {
      skip: 0,
      runs: [{ fromMs: 10 * HOUR_MS, toMs: 12 * HOUR_MS, entries: 150 }],
    });
  });

  it('past the end there is nothing', () => {
    assert.deepEqual(runs({ offset: 155 }).runs, []);
    assert.deepEqual(runsOf([], order).runs, []);
  });

  it('of a kind, hours without it are searched only between two others, and few enough entries at once', () => {
    const failed = { status: 'error', endpoint: '/v1/pdf' } as const;
    assert.deepEqual(runs({ ...failed, atOnce: 155 }).runs, [
      { fromMs: 2 * HOUR_MS, toMs: 12 * HOUR_MS, entries: 155 },
    ]);
    assert.deepEqual(runs({ ...failed, atOnce: 154 }).runs, [
      { fromMs: 11 * HOUR_MS, toMs: 12 * HOUR_MS, entries: 30 },
      { fromMs: 2 * HOUR_MS, toMs: 3 * HOUR_MS, entries: 5 },
    ]);
    assert.deepEqual(runs({ ...failed, offset: 1 }).runs, [
      { fromMs: 2 * HOUR_MS, toMs: 3 * HOUR_MS, entries: 5 },
    ]);
    assert.deepEqual(runs({ status: 'error', endpoint: '/v1/batches' }).runs, []);
  });

  it('the ids of an account’s entries are in the order of time, and in the range of their hour', () => {
    const at = Date.parse('2026-03-01T09:00:00Z');
    const ids = [at, at + 1, at + HOUR_MS - 1].map((ms) => newEntryId('account', new Date(ms)));
    assert.deepEqual(ids, ids.toSorted());
    const { $gte, $lt } = idsBetween('account', at, at + HOUR_MS);
    for (const id of ids) {
      assert.ok($gte <= id && id < $lt, id);
      assert.equal(accountOf(id), 'account');
    }
    for (const ms of [at - 1, at + HOUR_MS]) {
      const id = newEntryId('account', new Date(ms));
      assert.ok(id < $gte || id >= $lt, id);
    }
  });

  it('days are counted in UTC, both ends among them', () => {
    const days = daysBetween(new Date('2026-02-27T23:00:00Z'), new Date('2026-03-01T00:00:00Z'));
    assert.deepEqual(days, ['2026-02-27', '2026-02-28', '2026-03-01']);
  });
});
