import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { outputKey } from '../../../src/infra/outputs/output-store.ts';
import { quotaPeriod, quotaResetDate } from '../../../src/tenants/plans/quota-period.ts';
import type { Job } from '../../../src/work/jobs/job.ts';
import { repairInterruptedJobs } from '../../../src/work/jobs/sweeps/interrupted-jobs.ts';
import { newJob, useDomain } from '../../support/domain.ts';

const period = quotaPeriod(new Date());
const MINUTE_MS = 60_000;

describe('Monthly quota', () => {
  const domain = useDomain();
  let account: string;
  beforeEach(() => {
    account = randomUUID();
  });
  const used = () => domain.ledger.quotaUsed(account, period);
  const take = (jobId: string, limit = 10, inPeriod = period) =>
    domain.ledger.takeSlot(account, jobId, 100, { period: inPeriod, limit });
  const sweep = async () =>
    repairInterruptedJobs(
      { ...domain, redeliveryMs: 1e9, retryBaseMs: 1000, random: () => 1, onRetried: () => {} },
      await domain.ledger.active(),
    );

  it('allows as many as the quota and no more; a quota of nothing allows nothing', async () => {
    assert.ok(await take('1', 2));
    assert.ok(await take('2', 2));
    assert.equal(await take('3', 2), false);
    assert.ok(await take('3', 3), 'a larger plan makes room at once');
    assert.equal(await take('4', 0), false);
    assert.equal(await used(), 3);
  });

  it('charges a job once, however often it is reserved before it is written', async () => {
    assert.ok(await take('1', 1));
    assert.equal(await take('1', 5), false);
    assert.equal(await used(), 1);
  });

  it('gives back once', async () => {
    await take('1');
    await take('2');
    for (let i = 0; i < 3; i += 1) await domain.ledger.undoSlot(account, '1', period);
    assert.equal(await used(), 1);
  });

  it('starts anew with the month', async () => {
    await take('1', 1);
    const next = quotaPeriod(quotaResetDate(new Date()));
    assert.notEqual(next, period);
    assert.ok(await take('2', 1, next));
  });

  it('takes back what a job uses that was never written, once, and not before its time', async () => {
    await take(randomUUID());
    await sweep();
    assert.equal(await used(), 1);
    domain.clock.pass(2 * MINUTE_MS);
    await sweep();
    assert.equal(await used(), 0);
    await sweep();
    assert.equal(await used(), 0);
  });

  it('leaves alone what another try of the request has taken meanwhile', async () => {
    const jobId = randomUUID();
    await take(jobId);
    domain.clock.pass(2 * MINUTE_MS);
    await domain.admission.abandon(account, jobId);
    assert.ok(await take(jobId));
    await sweep();
    assert.equal(await used(), 1);
  });

  it('keeps what a job uses that was written, though its process died right after', async () => {
    await domain.admit(newJob(account, { quotaPeriod: period }));
    domain.clock.pass(2 * MINUTE_MS);
    await sweep();
    await sweep();
    assert.equal(await used(), 1);
  });

  it('keeps what a completed job uses', async () => {
    await domain.followUp.follow([(await complete(await running()))!]);
    await twice();
    assert.equal(await used(), 1);
  });

  for (const end of ['failed', 'cancelled'] as const) {
    it(`gives back what a ${end} job has reserved, once`, async () => {
      await domain.followUp.follow(await finish(await running(), end));
      assert.equal(await used(), 0);
      await twice();
      assert.equal(await used(), 0);
    });

    it(`gives it back though the process died as the job was ${end}`, async () => {
      await finish(await running(), end);
      assert.equal(await used(), 1);
      domain.clock.pass(MINUTE_MS);
      await twice();
      assert.equal(await used(), 0);
    });
  }

  async function running(): Promise<Job> {
    const { job, input } = newJob(account, { quotaPeriod: period });
    await domain.admit({ job, input });
    return (await domain.store.transitions.claim(job, 'w', 1e9))!.job;
  }

  function finish(claimed: Job, end: 'failed' | 'cancelled'): Promise<Job[]> {
    const { transitions } = domain.store;
    if (end === 'cancelled') return transitions.cancel([claimed]);
    return transitions.fail([claimed], new PlatenError('RENDER_FAILED'));
  }

  function complete(claimed: Job): Promise<Job | undefined> {
    const expiresAt = new Date(Date.now() + 1e7);
    const output = { key: outputKey(claimed._id, 2, expiresAt), size: 1, pages: 1, sha256: '' };
    return domain.store.transitions.complete(claimed, output, expiresAt);
  }

  /** Everything that was left to be done later, and the sweep, twice. */
  async function twice(): Promise<void> {
    for (let i = 0; i < 2; i += 1) {
      await domain.flush();
      domain.clock.pass(2 * MINUTE_MS);
      await sweep();
    }
  }
});
