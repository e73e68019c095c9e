import assert from 'node:assert/strict';
import { pino } from 'pino';
import { type UsageBucket, UsageCounters } from '../../../src/tenants/usage/usage-counters.ts';
import { useDomain } from '../../support/domain.ts';
import { eventually } from '../../support/eventually.ts';

const AT = new Date('2026-03-04T05:06:07Z');
const SINCE = new Date('2026-03-04T00:00:00Z');

describe('the outcomes of jobs', () => {
  const domain = useDomain();

  const outcome = (jobId: string, accountId: string) => ({
    jobId,
    accountId,
    apiKeyId: 'key',
    at: AT,
    errorCode: undefined,
  });
  const bucketOf = (accountId: string) =>
    domain.connection.collection<UsageBucket>('usage_buckets').findOne({ accountId });

  it('are counted once, also by a process that knew of them before another had forgotten them', async () => {
    const { counters } = domain;
    const outcomes = ['x', 'y'].map((jobId) => outcome(jobId, 'slow'));
    await counters.countEnds(outcomes);
    counters.forgetEnds(outcomes);
    await counters.countEnds([outcomes[0]!, outcome('z', 'slow')]);
    assert.equal((await counters.usage('slow', SINCE)).totalRequests, 3);
  });

  it('are forgotten by their names a while later', async () => {
    const counters = new UsageCounters(domain.connection, pino({ level: 'silent' }), 2000);
    const outcomes = ['x', 'y'].map((jobId) => outcome(jobId, 'later'));
    await counters.countEnds(outcomes);
    counters.forgetEnds(outcomes);
    assert.deepEqual(Object.keys((await bucketOf('later'))?.counted ?? {}).sort(), ['x', 'y']);
    await eventually('no name is left', async () => {
      const { counted = {} } = (await bucketOf('later'))!;
      return Object.keys(counted).length === 0;
    });
    assert.equal((await counters.usage('later', SINCE)).totalRequests, 2);
  });
});
