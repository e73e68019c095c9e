import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { PlatenError } from '../../../src/errors/registry.ts';
import type { Job } from '../../../src/jobs/job.ts';
import { settleReservations } from '../../../src/jobs/sweeps/reservations.ts';
import { moveLeftBehind } from '../../../src/jobs/sweeps/retention.ts';
import { outputKey } from '../../../src/store/outputs/output-store.ts';
import { quotaPeriod, quotaResetDate } from '../../../src/usage/quota.ts';
import { type Domain, newJob, openDomain } from '../../support/domain.ts';

const period = quotaPeriod(new Date());
const MINUTE_MS = 60_000;

describe('Monthly quota', () => {
  let domain: Domain;
  let account: string;
  before(async () => {
    domain = await openDomain();
  });
  after(() => domain.close());
  beforeEach(() => {
    account = randomUUID();
  });
  const used = () => domain.quota.used(account, period);
  const sweep = () => settleReservations({ ...domain, now: domain.clock.now() });
  const reserve = (jobId: string, quota = 10) => domain.quota.reserve(account, period, jobId, quota);

  it('reserves up to the quota and no further; a quota of nothing allows nothing', async () => {
    assert.equal(await reserve('1', 2), 'made');
    assert.equal(await reserve('2', 2), 'made');
    assert.equal(await reserve('3', 2), 'used up');
    assert.equal(await reserve('3', 3), 'made', 'a larger plan makes room at once');
    assert.equal(await domain.quota.reserve(randomUUID(), period, '1', 0), 'used up');
    assert.equal(await used(), 3);
  });

  it('charges a job once, however often it is reserved before it is confirmed', async () => {
    assert.equal(await reserve('1', 1), 'made');
    assert.equal(await reserve('1', 1), 'held', 'even when nothing is left');
    assert.equal(await used(), 1);
  });

  it('gives back once, confirmed or not', async () => {
    await reserve('1');
    await reserve('2');
    await domain.quota.confirm(account, period, ['1', '2']);
    for (let i = 0; i < 3; i += 1) await domain.quota.giveBack(account, period, '1');
    assert.equal(await used(), 1);
  });

  it('starts anew with the month', async () => {
    await reserve('1', 1);
    const next = quotaPeriod(quotaResetDate(new Date()));
    assert.notEqual(next, period);
    assert.equal(await domain.quota.reserve(account, next, '2', 1), 'made');
  });

  it('takes back a reservation whose job was never written, once, and not before its time', async () => {
    await reserve(randomUUID());
    await sweep();
    assert.equal(await used(), 1);
    domain.clock.pass(2 * MINUTE_MS);
    await sweep();
    assert.equal(await used(), 0);
    await sweep();
    assert.equal(await used(), 0);
  });

  it('leaves a reservation alone that another try of the request has taken up meanwhile', async () => {
    const jobId = randomUUID();
    await reserve(jobId);
    const [seen] = await domain.quota.pending();
    domain.clock.pass(2 * MINUTE_MS);
    assert.equal(await reserve(jobId), 'held');
    await sweep();
    await domain.quota.undo(account, period, jobId, seen!.since);
    assert.equal(await used(), 1);
  });

  it('keeps what a job uses that was written, though its process died before it was confirmed', async () => {
    const { job, input } = newJob(account, { quotaPeriod: period });
    await reserve(job._id);
    await domain.dispatch.submit(job, input);
    domain.clock.pass(2 * MINUTE_MS);
    await sweep();
    await sweep();
    assert.equal(await used(), 1);
    assert.deepEqual(await domain.quota.pending(), []);
  });

  it('keeps what a completed job uses', async () => {
    const claimed = await running();
    await domain.dispatch.settle((await complete(claimed))!);
    await settled();
    assert.equal(await used(), 1);
  });

  for (const end of ['failed', 'cancelled'] as const) {
    it(`gives back what a ${end} job has reserved, once`, async () => {
      const claimed = await running();
      await domain.dispatch.settle((await finish(claimed, end))!);
      assert.equal(await used(), 0);
      await settled();
      assert.equal(await used(), 0);
    });

    it(`gives it back though the process died as the job was ${end}`, async () => {
      const claimed = await running();
      await finish(claimed, end);
      assert.equal(await used(), 1);
      domain.clock.pass(MINUTE_MS);
      await settled();
      assert.equal(await used(), 0);
      await settled();
      assert.equal(await used(), 0);
    });
  }

  async function running(): Promise<Job> {
    const { job, input } = newJob(account, { quotaPeriod: period });
    await reserve(job._id);
    await domain.dispatch.submit(job, input);
    domain.settlement.accepted({ accountId: account, period, jobId: job._id });
    return (await domain.lifecycle.claim(job, 'w', 15_000))!;
  }

  function finish(claimed: Job, end: 'failed' | 'cancelled'): Promise<Job | undefined> {
    if (end === 'cancelled') return domain.lifecycle.cancel(claimed);
    return domain.lifecycle.fail(claimed, new PlatenError('RENDER_FAILED'));
  }

  function complete(claimed: Job): Promise<Job | undefined> {
    const expiresAt = new Date(Date.now() + 1e7);
    const output = { key: outputKey(claimed._id, 2, expiresAt), size: 1, pages: 1, sha256: '' };
    return domain.lifecycle.complete(claimed, output, expiresAt);
  }

  /** Everything that was left to be done later, and every sweep, twice. */
  async function settled(): Promise<void> {
    for (let i = 0; i < 2; i += 1) {
      await domain.settlement.flush();
      const now = new Date(domain.clock.now().getTime() + 2 * MINUTE_MS);
      await settleReservations({ ...domain, now });
      await moveLeftBehind(domain.collections, now, (job) => domain.settlement.returnUnused(job));
    }
  }
});
