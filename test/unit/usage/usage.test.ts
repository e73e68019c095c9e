import assert from 'node:assert/strict';
import { ERRORS, type ErrorCode } from '../../../src/infra/errors/registry.ts';
import { quotaPeriod, quotaResetDate } from '../../../src/tenants/plans/quota-period.ts';
import { errorCategory } from '../../../src/tenants/usage/error-category.ts';
import { dayOf, periodStart } from '../../../src/tenants/usage/periods.ts';
import { totalUsage } from '../../../src/tenants/usage/tallies.ts';

describe('Usage', () => {
  it('a period begins on a whole hour, so many days ago', () => {
    const now = new Date('2026-03-01T10:25:30.123Z');
    assert.equal(periodStart('1d', now).toISOString(), '2026-02-28T10:00:00.000Z');
    assert.equal(periodStart('7d', now).toISOString(), '2026-02-22T10:00:00.000Z');
    assert.equal(periodStart('90d', now).toISOString(), '2025-12-01T10:00:00.000Z');
    assert.equal(dayOf(now), '2026-03-01');
  });

  it('the quota starts anew on the first of the month, also at the end of a year', () => {
    assert.equal(quotaPeriod(new Date('2026-12-31T23:59:59.999Z')), '2026-12');
    assert.equal(quotaResetDate(new Date('2026-12-31T23:59:59Z')).toISOString(), '2027-01-01T00:00:00.000Z');
    assert.equal(quotaResetDate(new Date('2026-01-31T00:00:00Z')).toISOString(), '2026-02-01T00:00:00.000Z');
  });

  it('every code that can end a request or a job falls into one category', () => {
    const known = ['validation', 'render', 'timeout', 'quota', 'capacity', 'cancelled'];
    for (const code of Object.keys(ERRORS) as ErrorCode[])
      assert.ok(known.includes(errorCategory(code)), code);
    const examples = {
      VALIDATION: 'validation',
      RENDER_TIMEOUT: 'timeout',
      BROWSER_CRASHED: 'render',
    } as const;
    for (const [code, category] of Object.entries(examples)) {
      assert.equal(errorCategory(code as ErrorCode), category);
    }
    assert.equal(errorCategory('RATE_LIMITED'), 'capacity');
    assert.equal(errorCategory('QUOTA_EXCEEDED'), 'quota');
  });

  it('tallies add up, by key and by category', () => {
    const usage = totalUsage([
      { apiKeyId: 'a', total: 3, failed: 1, errors: { timeout: 1 } },
      { apiKeyId: 'b', total: 5, failed: 2, errors: { timeout: 1, quota: 1 } },
      { apiKeyId: 'a', total: 1 },
    ]);
    assert.deepEqual(usage, {
      totalRequests: 9,
      successCount: 6,
      failedCount: 3,
      errorsByCategory: { validation: 0, render: 0, timeout: 2, quota: 1 },
      keyBreakdown: [
        { apiKeyId: 'b', totalRequests: 5, failedCount: 2 },
        { apiKeyId: 'a', totalRequests: 4, failedCount: 1 },
      ],
    });
  });
});
