import assert from 'node:assert/strict';
import { quotaPeriod } from '../../../../src/tenants/plans/quota-period.ts';
import { openTwins, type Twins } from '../../../support/twins.ts';

describe('A keyed request whose process is killed before it has responded', () => {
  let twins: Twins;
  before(async () => {
    twins = await openTwins({ requestsPerMinute: 10_000 }, { PLATEN_LEASE_MS: '3000' });
  });
  after(() => twins?.stop());

  it('is taken up at another process within seconds, has the same job, and is charged once', async () => {
    const { accountId, clients } = await twins.newTenant();
    const [first, second] = clients;
    const body = { html: '<h1>kept</h1>', options: { delayMs: 5000 } };
    const ask = (client: typeof first) => client.render(body, { 'idempotency-key': 'the only one' });
    const lost = ask(first).catch((error: Error) => error);
    const jobId = await begun();
    await twins.roles[0].end('SIGKILL');
    assert.ok((await lost) instanceof Error, 'it was never answered');

    let response = await ask(second);
    while (response.status === 409) {
      assert.equal(response.json.code, 'IDEMPOTENCY_IN_PROGRESS');
      await new Promise((resolve) => setTimeout(resolve, 1000 * Number(response.headers.get('retry-after'))));
      response = await ask(second);
    }
    // Its worker was lost as well, so the render may be tried again first.
    if (response.status === 202) {
      assert.equal(response.json.jobId, jobId);
      await second.end(jobId);
      response = await second.call('GET', `/v1/pdf/jobs/${jobId}/file`);
    } else assert.equal(response.headers.get('x-service-job-id'), jobId);
    assert.equal(response.status, 200);
    assert.equal((await second.call('GET', '/v1/pdf/jobs')).json.total, 1);
    assert.equal(await twins.ledger.quotaUsed(accountId, quotaPeriod(new Date())), 1);
    assert.equal((await ask(second)).headers.get('idempotent-replayed'), 'true');

    async function begun(): Promise<string> {
      for (;;) {
        const [job] = (await second.call('GET', '/v1/pdf/jobs')).json.jobs;
        if (job?.status === 'processing') return job.jobId;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  });
});
