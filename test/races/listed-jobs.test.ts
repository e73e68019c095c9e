import assert from 'node:assert/strict';
import { endEarly } from '../../src/work/jobs/end-early.ts';
import { type Domain, newJob, openDomain } from '../support/domain.ts';
import { startMongo } from '../support/mongo.ts';

const JOBS = 1000;
/** Jobs that end at the same time. */
const AT_ONCE = 20;

describe('Jobs that end while they are listed', () => {
  let domain: Domain;
  beforeEach(async () => {
    domain = await openDomain({ uri: (await startMongo()).uri, plan: { maxWaitingJobs: 10_000 } });
  });
  afterEach(() => domain.close());

  it('are in every list exactly once, for a thousand jobs', async () => {
    let lists = 0;
    for (let i = 0; i < JOBS; i += AT_ONCE) {
      const accountId = `account-${i}`;
      const jobs = Array.from({ length: AT_ONCE }, () => newJob(accountId));
      for (const { job, input } of jobs) await domain.admit({ job, input });
      const ids = jobs.map(({ job }) => job._id).sort();
      let running = true;
      const list = async () => {
        while (running) {
          const page = await domain.store.list({ accountId, limit: 100, offset: 0, newestFirst: true });
          assert.deepEqual(page.jobs.map(({ _id }) => _id).sort(), ids);
          lists += 1;
        }
      };
      const listing = Promise.all([list(), list(), list()]);
      const cancels = jobs.map(({ job }) => endEarly(domain, [job]));
      await Promise.race([Promise.all(cancels), listing]);
      await domain.flush();
      running = false;
      await listing;
    }
    assert.ok(lists > JOBS / AT_ONCE, `only ${lists} lists`);
  });
});
