import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { quotaPeriod } from '../../../../src/tenants/plans/quota-period.ts';
import type { IdempotencyLock } from '../../../../src/work/jobs/idempotency-store.ts';
import { storedInput } from '../../../../src/work/jobs/store/stored-input.ts';
import { newJob, slotsInUse } from '../../../support/domain.ts';
import { eventually } from '../../../support/eventually.ts';
import { type TestCaller, useApi } from '../support/api.ts';

const BODY = JSON.stringify({ html: '<p>hello</p>' });
const BODY_HASH = createHash('sha256').update(BODY).digest('hex');
const LOCK_MS = 6000;

/** How far a request came before its process died, and whether its key was known to be in use until then. */
describe('A keyed request whose process dies', () => {
  const api = useApi({ plan: { concurrentRenders: 1 } });
  let caller: TestCaller;
  let key: string;
  let period: ReturnType<typeof quotaPeriod>;
  beforeEach(async () => {
    caller = await api.newCaller();
    key = randomUUID();
    period = quotaPeriod(api.domain.clock.now());
  });
  const ask = () => caller.render(BODY, { 'idempotency-key': key });

  /** As the route begins; from here on the process is dead, but for its timers, which a dead one would not have. */
  async function begin(): Promise<IdempotencyLock> {
    const begun = await api.domain.idempotency.begin(caller.accountId, '/v1/pdf', key, BODY_HASH);
    assert.equal(begun.kind, 'run');
    if (begun.kind !== 'run') throw new Error('not reached');
    return begun.lock;
  }

  const steps: Record<string, (jobId: string) => Promise<void>> = {
    'before it did anything': async () => {},
    'when it had a place and quota': async (jobId) => {
      const admission = { id: jobId, jobs: [jobId], queue: 'interactive' as const };
      const limits = { maxWaiting: 10, quota: { period, limit: 100 } };
      assert.equal(await api.domain.ledger.takePositions(caller.accountId, admission, limits), 0);
    },
    'when it had a slot and had saved the input': async (jobId) => {
      const { domain } = api;
      assert.ok(await domain.ledger.takeSlot(caller.accountId, jobId, 1, { period, limit: 100 }));
      const { input } = newJob(caller.accountId, { _id: jobId });
      await domain.store.inputs.save([storedInput(input)]);
    },
    'when its job was accepted': async (jobId) => {
      const { domain } = api;
      const owner = { apiKeyId: caller.apiKeyId, quotaPeriod: period };
      await domain.admit(newJob(caller.accountId, { _id: jobId, class: 'interactive', ...owner }));
    },
  };

  for (const [when, step] of Object.entries(steps)) {
    it(`${when}: the retry has the same job, charged once`, async () => {
      const lock = await begin();
      await step(lock.workId);
      await lock.release();
      const response = await ask();
      assert.equal(response.status, 200, response.status === 200 ? '' : JSON.stringify(response.json));
      assert.equal(response.headers.get('x-service-job-id'), lock.workId);
      await api.domain.flush();
      assert.equal((await caller.get('/v1/pdf/jobs')).json.total, 1);
      assert.equal(await api.domain.ledger.quotaUsed(caller.accountId, period), 1);
      await slotIsFree();
      assert.equal((await ask()).headers.get('idempotent-replayed'), 'true');
    });
  }

  it('holds the key for seconds only', async () => {
    const lock = await begin();
    assert.equal((await ask()).status, 409);
    // Its process is gone: nothing renews the lock, as the timer of this one would under the name of who holds it.
    await api.domain.connection
      .collection('idempotency_keys')
      .updateMany(
        { workId: lock.workId },
        { $set: { holder: randomUUID(), lockedUntil: new Date(Date.now() + LOCK_MS) } },
      );
    api.domain.clock.pass(LOCK_MS + 100);
    assert.equal((await ask()).headers.get('x-service-job-id'), lock.workId);
    await lock.release();
  });

  it('and resumes while the retry runs: there is one job, and both wait for it', async () => {
    const { domain } = api;
    const lock = await begin();
    await lock.release();
    // Not through before both have asked: one who has stood still for that long notices, and asks no more.
    const bothHaveAsked = Promise.withResolvers<void>();
    api.worker.render = async () => {
      await bothHaveAsked.promise;
      return { pages: 1 };
    };
    const retry = ask();
    const again = newJob(caller.accountId, { _id: lock.workId, class: 'interactive', quotaPeriod: period });
    await domain
      .admit(again)
      .catch((error: Error) => assert.equal(error.name, 'JobExists'))
      .finally(bothHaveAsked.resolve);
    assert.equal((await retry).headers.get('x-service-job-id'), lock.workId);
    await domain.flush();
    assert.equal(await domain.ledger.quotaUsed(caller.accountId, period), 1);
    assert.equal((await caller.get('/v1/pdf/jobs')).json.total, 1);
  });

  async function slotIsFree(): Promise<void> {
    await eventually('the slot is free', async () => (await slotsInUse(api.domain, caller.accountId)) === 0);
  }

  it('responds to an async submission with the 202 envelope, though its job has ended meanwhile', async () => {
    const { domain } = api;
    const async = JSON.stringify({ html: '<p>hello</p>', executionMode: 'async' });
    const hash = createHash('sha256').update(async).digest('hex');
    const begun = await domain.idempotency.begin(caller.accountId, '/v1/pdf', key, hash);
    if (begun.kind !== 'run') throw new Error('not reached');
    const { lock } = begun;
    await domain.admit(newJob(caller.accountId, { _id: lock.workId, quotaPeriod: period }));
    await slotIsFree();
    await lock.release();
    for (let i = 0; i < 2; i += 1) {
      const response = await caller.render(async, { 'idempotency-key': key });
      assert.equal(response.status, 202);
      assert.equal(response.json.jobId, lock.workId);
    }
  });
});
