import assert from 'node:assert/strict';
import { settleReservations } from '../../src/jobs/sweeps/reservations.ts';
import { quotaPeriod } from '../../src/usage/quota.ts';
import { type Domain, newJob, openDomain } from '../support/domain.ts';
import { startMongo } from '../support/mongo.ts';

const period = quotaPeriod(new Date());

describe('races over quota', function () {
  this.timeout(120_000);
  let first: Domain;
  let second: Domain;
  beforeEach(async () => {
    const { uri } = await startMongo();
    first = await openDomain({ uri });
    second = await openDomain({ uri });
  });
  afterEach(async () => {
    await first.close();
    await second.close();
  });
  const turn = (i: number) => (i % 2 ? first : second).quota;

  it('of 400 reservations from two processes exactly as many are made as the quota has', async () => {
    const answers = await Promise.all(
      Array.from({ length: 400 }, (_, i) => turn(i).reserve('a', period, `job-${i}`, 150)),
    );
    assert.equal(answers.filter((answer) => answer === 'made').length, 150);
    assert.equal(answers.filter((answer) => answer === 'used up').length, 250);
    assert.equal(await first.quota.used('a', period), 150);
  });

  it('a reservation for the same job, made by two processes at once, is charged once, a thousand times', async () => {
    await pairs(1000, async (jobId) => {
      const both = await Promise.all([1, 2].map((i) => turn(i).reserve('a', period, jobId, 100_000)));
      assert.deepEqual(both.sort(), ['held', 'made']);
    });
    assert.equal(await first.quota.used('a', period), 1000);
  });

  it('given back by two processes at once it is given back once, a thousand times', async () => {
    await pairs(1000, async (jobId, i) => {
      await turn(i).reserve('a', period, jobId, 100_000);
      const confirm = turn(i).confirm('a', period, [jobId]);
      await Promise.all([confirm, ...[1, 2, 3].map((n) => turn(n).giveBack('a', period, jobId))]);
    });
    assert.equal(await first.quota.used('a', period), 0);
  });

  it('undone by a refusal and by the sweep at once it is undone once, and a confirmed one never', async () => {
    await pairs(500, async (jobId, i) => {
      await turn(i).reserve('a', period, jobId, 100_000);
      await Promise.all([1, 2].map((n) => turn(n).undo('a', period, jobId)));
      await turn(i).reserve('b', period, jobId, 100_000);
      await turn(i).confirm('b', period, [jobId]);
      await turn(i).undo('b', period, jobId);
    });
    assert.equal(await first.quota.used('a', period), 0);
    assert.equal(await first.quota.used('b', period), 500);
  });

  it('two sweeps at once, while jobs end, leave as much used as there are PDFs', async () => {
    const ended: Promise<void>[] = [];
    let completed = 0;
    for (let i = 0; i < 200; i += 1) {
      const { job, input } = newJob('a', { quotaPeriod: period });
      await turn(i).reserve('a', period, job._id, 100_000);
      // One in four loses its process before the job is written.
      if (i % 4 === 0) continue;
      await first.dispatch.submit(job, input);
      if (i % 4 === 1) completed += 1;
      else ended.push(cancel(i % 2 ? first : second, job._id));
    }
    await Promise.all(ended);
    first.clock.pass(120_000);
    const now = first.clock.now();
    const sweep = (domain: Domain) => settleReservations({ ...domain, now });
    await Promise.all([sweep(first), sweep(second), sweep(first)]);
    assert.equal(await first.quota.used('a', period), completed);
    assert.equal((await first.quota.pending()).length, 0);
  });
});

async function cancel(domain: Domain, jobId: string): Promise<void> {
  const job = await domain.collections.jobs.findById(jobId).lean();
  const cancelled = await domain.lifecycle.cancel(job as never);
  assert.ok(cancelled);
  await domain.dispatch.settle(cancelled);
}

/** Twenty at a time. */
async function pairs(count: number, race: (jobId: string, i: number) => Promise<void>): Promise<void> {
  for (let start = 0; start < count; start += 20) {
    await Promise.all(Array.from({ length: 20 }, (_, i) => race(`job-${start + i}`, start + i)));
  }
}
