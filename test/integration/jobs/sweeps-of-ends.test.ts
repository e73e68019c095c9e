import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { createFolderOutputStore } from '../../../src/infra/outputs/folder.ts';
import { outputKey } from '../../../src/infra/outputs/output-store.ts';
import { quotaPeriod } from '../../../src/tenants/plans/quota-period.ts';
import { endEarly } from '../../../src/work/jobs/end-early.ts';
import type { Job } from '../../../src/work/jobs/job.ts';
import { endRetention } from '../../../src/work/jobs/sweeps/retention.ts';
import { SweptDomain } from '../../support/swept-domain.ts';

const HOUR_MS = 3_600_000;
const period = quotaPeriod(new Date());

describe('sweeps of jobs that have ended or are to end', () => {
  let swept: SweptDomain;
  beforeEach(async () => {
    swept = await SweptDomain.open();
  });
  afterEach(() => swept.close());

  it('end what has waited for longer than its output would have been kept', async () => {
    await swept.claim(await swept.submit({ retentionHours: 10_000 }), 'w', 1e9);
    const id = await swept.submit({ retentionHours: 2 });
    swept.domain.clock.pass(2 * HOUR_MS - 60_000);
    assert.equal(await swept.expire(), 0);
    swept.domain.clock.pass(60_000);
    assert.equal(await swept.expire(), 1);
    await swept.domain.flush();
    assert.equal((await swept.domain.store.history.find(id))?.error?.code, 'EXPIRED');
    assert.deepEqual(swept.domain.ended, ['failed EXPIRED']);
    assert.equal((await swept.domain.ledger.find('a'))?.waiting, 0);
  });

  it('follow up the end of a job whose process died at any step, once', async () => {
    const followUp = swept.domain.followUp;
    const cancelled = async () => {
      const id = await swept.submit({ quotaPeriod: period });
      return (await swept.domain.store.transitions.cancel([await swept.job(id)]))[0]!;
    };
    const repairOne = async () => {
      swept.domain.clock.pass(5001);
      assert.equal(await swept.repair(), 1);
      await swept.domain.flush();
    };
    // Died right after the job had ended; after it had left its slot; after it was copied.
    await cancelled();
    await repairOne();
    await swept.domain.ledger.leave([await cancelled()]);
    await repairOne();
    const copied = await cancelled();
    await swept.domain.ledger.leave([copied]);
    await swept.domain.connection.collection<Job>('job_history').insertOne(copied);
    await repairOne();
    // And twice at once.
    const both = await cancelled();
    await Promise.all([followUp.follow([both]), followUp.follow([both])]);
    await swept.domain.flush();
    // And again, by a sweep that had looked at it before that was done.
    await followUp.finish([both]);
    assert.equal((await swept.usage()).totalRequests, 4);
    assert.equal(await swept.domain.ledger.quotaUsed('a', period), 0);
    assert.equal(await swept.domain.connection.collection('jobs').countDocuments(), 0);
    assert.equal(await swept.domain.connection.collection('job_history').countDocuments(), 4);
    await swept.serve();
    assert.deepEqual(await swept.domain.ledger.active(), []);
  });

  it('count what they have put right, not what another process has meanwhile', async () => {
    const twice = async () => {
      const seen = await swept.domain.ledger.active();
      const counts = [await swept.repair(seen), await swept.repair(seen)];
      await swept.domain.flush();
      return counts;
    };
    const cancelled = async () =>
      (await swept.domain.store.transitions.cancel([await swept.job(await swept.submit())]))[0]!;
    // Ended, and named by its slot.
    await cancelled();
    swept.domain.clock.pass(5001);
    assert.deepEqual(await twice(), [1, 0]);
    // Named as ending.
    await swept.domain.ledger.leave([await cancelled()]);
    swept.domain.clock.pass(5001);
    assert.deepEqual(await twice(), [1, 0]);
    // Back in the queue, and still named by its slot.
    const id = await swept.submit();
    const claimed = await swept.claim(id, 'w');
    await swept.domain.store.retries.schedule(id, swept.domain.clock.now(), { $set: { accountId: 'a' } });
    await swept.domain.store.transitions.retryLater(claimed, new PlatenError('RENDER_FAILED'), 0);
    swept.domain.clock.pass(10_001);
    assert.deepEqual(await twice(), [1, 0]);
    // Waiting, and left while it waited.
    assert.equal(await swept.domain.retries.returnDue(), 1);
    const waiting = await swept.submit();
    await swept.domain.ledger.announceEnds('a', waiting);
    await swept.domain.store.transitions.cancel([await swept.job(waiting)]);
    await swept.claim(id, 'w', 1e9);
    swept.domain.clock.pass(5001);
    assert.deepEqual(await twice(), [1, 0]);
  });

  it('end a waiting job whose canceller died after it had cancelled it', async () => {
    await swept.claim(await swept.submit(), 'w', 1e9);
    const id = await swept.submit({ quotaPeriod: period });
    await swept.domain.ledger.announceEnds('a', id);
    await swept.domain.store.transitions.cancel([await swept.job(id)]);
    swept.domain.clock.pass(5001);
    assert.equal(await swept.repair(), 1);
    const record = await swept.domain.ledger.find('a');
    assert.equal(record?.waiting, 0);
    assert.equal(record?.quota?.[period], 0);
    assert.deepEqual(swept.domain.ended, ['cancelled CANCELLED']);
  });

  it('put right what a crash has left wrong in the number of waiting jobs', async () => {
    await swept.submit();
    await endEarly(swept.domain, [(await swept.job(swept.pointers[0]?.jobId ?? (await firstId()))) as Job]);
    await swept.domain.flush();
    const record = await swept.domain.ledger.find('a');
    assert.ok(record && (await swept.domain.ledger.setWaiting(record, 3)));
    assert.equal(await swept.serve(), 1);
    assert.equal((await swept.domain.ledger.find('a'))?.waiting, 0);
  });
  const firstId = async () =>
    (await swept.domain.connection.collection<Job>('jobs').findOne({}))?._id ?? 'none';

  it('delete a job, its file and its input when its retention has ended, and not before', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'platen-retention-'));
    const outputs = createFolderOutputStore(folder);
    const id = await swept.submit();
    const claimed = await swept.claim(id, 'w');
    const expiresAt = new Date(swept.domain.clock.now().getTime() + HOUR_MS);
    const key = outputKey(id, 1, expiresAt);
    await outputs.put(key, new Uint8Array([1, 2, 3]));
    const output = { key, size: 3, pages: 1, sha256: '' };
    const done = await swept.domain.store.transitions.complete(claimed, output, expiresAt);
    await swept.domain.followUp.follow([done!]);
    await swept.domain.flush();
    assert.equal(await swept.inputs(), 0, 'the input of a completed job goes');
    await endRetention(
      { history: swept.domain.store.history, stored: swept.domain.stored },
      outputs,
      swept.domain.clock.now(),
    );
    const stored = await outputs.get(key);
    assert.ok(stored);
    stored.stream.destroy();
    swept.domain.clock.pass(HOUR_MS + 1);
    await endRetention(
      { history: swept.domain.store.history, stored: swept.domain.stored },
      outputs,
      swept.domain.clock.now(),
    );
    assert.equal(await outputs.get(key), undefined);
    assert.equal(await swept.domain.connection.collection('job_history').countDocuments(), 0);
    await rm(folder, { recursive: true });
  });
});
