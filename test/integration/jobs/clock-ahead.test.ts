import assert from 'node:assert/strict';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { outputKey } from '../../../src/infra/outputs/output-store.ts';
import type { Job } from '../../../src/work/jobs/job.ts';
import { assertNothingHeld } from '../../support/held.ts';
import { SweptDomain } from '../../support/swept-domain.ts';

const DAY_MS = 86_400_000;

/** The account's plan has one slot: a job that held it for a day would keep all others waiting. */
describe('After a crash of a machine whose clock was a day ahead', () => {
  let swept: SweptDomain;
  beforeEach(async () => {
    swept = await SweptDomain.open();
  });
  afterEach(() => swept.close());

  /** Runs work with the wrong clock. */
  async function ahead<T>(work: () => Promise<T>): Promise<T> {
    swept.domain.clock.pass(DAY_MS);
    try {
      return await work();
    } finally {
      swept.domain.clock.pass(-DAY_MS);
    }
  }

  /** Lets time pass on the right clock, and sweeps all along. */
  async function pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 1000) {
      await swept.repair();
      await swept.domain.retries.returnDue();
      swept.domain.clock.pass(1000);
      await swept.timers.pass(1000);
    }
    await swept.repair();
  }

  /** Records that a job has its PDF, which has to be followed up. */
  async function complete(id: string): Promise<Job> {
    const expiresAt = new Date(swept.domain.clock.now().getTime() + DAY_MS);
    const output = { key: outputKey(id, 1, expiresAt), size: 1, pages: 1, sha256: '' };
    const completed = await swept.domain.store.transitions.complete(
      await swept.claim(id, 'w'),
      output,
      expiresAt,
    );
    return completed as Job;
  }

  it('a claimed job is taken from its worker, and the slot goes to the job that waits', async () => {
    const id = await ahead(() => swept.submit());
    await ahead(() => swept.claim(id, 'crashed'));
    const waiting = await swept.submit();
    await pass(29_000);
    assert.equal((await swept.job(id)).state, 'processing');
    assert.deepEqual(swept.retried, []);
    await pass(2000);
    assert.deepEqual(swept.retried, ['WORKER_LOST']);
    assert.equal((await swept.job(waiting)).state, 'dispatched');
  });

  it('a job of a worker that is alive stays with it, whatever its clock says', async () => {
    const id = await ahead(() => swept.submit());
    const claimed = await ahead(() => swept.claim(id, 'alive'));
    for (let renewals = 0; renewals < 30; renewals += 1) {
      await pass(5000);
      assert.deepEqual(
        await ahead(() => swept.domain.store.transitions.renew('alive', [claimed], 15_000)),
        [],
      );
    }
    assert.deepEqual([(await swept.job(id)).state, swept.retried], ['processing', []]);
  });

  it('a lease that is renewed just before it is taken remains valid', async () => {
    const id = await ahead(() => swept.submit());
    const claimed = await ahead(() => swept.claim(id, 'late'));
    await pass(29_000);
    const seen = await swept.job(id);
    await ahead(() => swept.domain.store.transitions.renew('late', [claimed], 20_000));
    assert.equal(await swept.domain.retries.retryLater(seen, new PlatenError('WORKER_LOST'), 0, true), false);
    assert.deepEqual(
      await swept.domain.store.transitions.fail([seen], new PlatenError('WORKER_LOST'), {
        onlyIfLeaseEnded: true,
      }),
      [],
    );
    assert.equal((await swept.job(id)).state, 'processing');
  });

  it('a dispatched job whose pointer was lost is published again', async () => {
    const id = await ahead(() => swept.submit({ updatedAt: swept.domain.clock.now() }));
    const published = () => swept.pointers.filter(({ jobId }) => jobId === id).length;
    const before = published();
    await pass(4000);
    assert.equal(published(), before);
    await pass(2000);
    assert.equal(published(), before + 1);
    await swept.domain.followUp.follow([await complete(id)]);
    await assertNothingHeld(swept.domain.connection);
  });

  it('a slot and positions without a job are given back', async () => {
    const { ledger } = swept.domain;
    await ahead(() => ledger.takeSlot('a', 'never-written', 1, undefined, { bytes: 0, max: 1e9 }));
    assert.equal((await ledger.find('a'))?.inFlight, 1);
    await pass(9000);
    assert.equal((await ledger.find('a'))?.inFlight, 1);
    await pass(3000);
    assert.equal((await ledger.find('a'))?.inFlight, 0);
    await assertNothingHeld(swept.domain.connection);
  });

  it('the end of a job that was not followed up is followed up', async () => {
    const id = await swept.submit();
    await ahead(() => complete(id));
    await pass(4000);
    assert.equal((await swept.domain.ledger.find('a'))?.inFlight, 1);
    await pass(2000);
    await assertNothingHeld(swept.domain.connection);
  });
});
