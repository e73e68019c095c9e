import assert from 'node:assert/strict';
import { quotaPeriod } from '../../../src/tenants/plans/quota-period.ts';
import type { TestClient } from '../../support/client.ts';
import type { Reply } from '../../support/send.ts';
import { openTwins, type Twins } from '../../support/twins.ts';

const QUOTA = 10;
const REQUESTS = 20;

/** That exactly as many are let in as the quota has is proven with hundreds in test/races/quota.test.ts. */
describe('The quota, with two API processes, one database and real renders', () => {
  let twins: Twins;
  before(async () => {
    const plan = {
      monthlyRenders: QUOTA,
      requestsPerMinute: 10_000,
      concurrentRenders: 4,
      maxWaitingJobs: 500,
    };
    twins = await openTwins(plan, { PLATEN_SYNC_WAIT_MS: '200000' });
  });
  after(() => twins?.stop());

  it('20 concurrent requests against a quota of 10 produce 10 PDFs, charge 10 and reject 10', async () => {
    const { accountId, clients } = await twins.newTenant();
    const responses = await Promise.all(
      Array.from({ length: REQUESTS }, (_, i) => clients[i % 2]!.render({ html: `<p>${i}</p>` })),
    );
    const refused = responses.filter(({ status }) => status === 403);
    const pdfs = await Promise.all(
      responses.filter(({ status }) => status !== 403).map((response) => pdfOf(response, clients[0])),
    );
    assert.equal(pdfs.length, QUOTA);
    assert.equal(refused.length, REQUESTS - QUOTA);
    for (const { json } of refused) assert.equal(json.code, 'QUOTA_EXCEEDED');
    assert.equal(new Set(pdfs).size, QUOTA, 'each is another job’s');
    assert.equal(await twins.ledger.quotaUsed(accountId, quotaPeriod(new Date())), QUOTA);
    const { json } = await clients[0].call('GET', '/v1/pdf/jobs?status=completed&limit=1');
    assert.equal(json.total, QUOTA);
  });
});

/** On a busy machine an attempt may fail and be repeated: the answer is 202 then, and the job goes on. @returns its id. */
async function pdfOf(response: Reply, client: TestClient): Promise<string> {
  const isAccepted = response.status === 202;
  const jobId: string = isAccepted ? response.json.jobId : response.headers.get('x-service-job-id');
  if (isAccepted) assert.equal((await client.end(jobId)).status, 'completed');
  const file = isAccepted ? await client.call('GET', `/v1/pdf/jobs/${jobId}/file`) : response;
  assert.equal(file.status, 200);
  assert.equal(Buffer.from(file.bytes.subarray(0, 5)).toString(), '%PDF-');
  return jobId;
}
