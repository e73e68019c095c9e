import assert from 'node:assert/strict';
import { pendingAdmission } from '../../../src/infra/overload/pending-admission.ts';
import { BATCH_STATUSES, type BatchStatus } from '../../../src/work/batches/batch.ts';
import type { Job } from '../../../src/work/jobs/job.ts';
import { eventually } from '../../support/eventually.ts';
import { type TestCaller, useApi } from '../http/support/api.ts';
import { latch } from '../http/support/test-worker.ts';
import { batchOf, callerWith } from './support.ts';

const SLOTS = 2;

describe('GET /v1/pdf/batch', () => {
  const api = useApi({ plan: { concurrentRenders: SLOTS } });
  let caller: TestCaller;
  /** What is being rendered, by the id of the item, and how to end it. */
  let gates: Map<string, ReturnType<typeof latch>>;

  beforeEach(async () => {
    caller = await api.newCaller();
    gates = new Map();
    api.worker.render = async ({ _id, item }: Job) => {
      const gate = latch();
      gates.set(item?.id ?? _id, gate);
      await gate.opened;
      return { pages: 1 };
    };
  });

  /** Orders a batch whose items are called `<name>-0` and so on. */
  async function submit(name: string, count: number): Promise<string> {
    const items = Array.from({ length: count }, (_, i) => ({ id: `${name}-${i}`, html: '<p>x</p>' }));
    return (await caller.post('/v1/pdf/batch', { items })).json.jobId;
  }

  const run = (...names: string[]) =>
    eventually(`${names} run`, () => names.every((name) => gates.has(name)));
  const end = async (...names: string[]) => {
    for (const name of names) {
      await run(name);
      gates.get(name)!.open();
    }
  };
  const status = async (id: string) => (await caller.get(`/v1/pdf/batch/${id}?limit=0`)).json;
  const finished = (id: string) =>
    eventually('the batch has ended', async () => (await status(id)).finishedAt !== null);

  /** Asked for each status, the list has these batches, the newest first, and says that they are so many. */
  async function assertListed(expected: Partial<Record<BatchStatus, readonly string[]>>): Promise<void> {
    for (const asked of BATCH_STATUSES) {
      const ids = expected[asked] ?? [];
      const { json } = await caller.get(`/v1/pdf/batch?status=${asked}`);
      assert.deepEqual(
        json.batches.map((batch: { jobId: string; status: string }) => [batch.jobId, batch.status]),
        ids.map((id) => [id, asked]),
        asked,
      );
      assert.equal(json.total, ids.length, asked);
      const page = (await caller.get(`/v1/pdf/batch?status=${asked}&limit=1&offset=1`)).json;
      assert.equal(page.total, ids.length, `${asked}, a page of them`);
      assert.deepEqual(
        page.batches.map(({ jobId }: { jobId: string }) => jobId),
        ids.slice(1, 2),
      );
    }
    const all = (await caller.get('/v1/pdf/batch')).json;
    assert.equal(all.total, Object.values(expected).flat().length);
    for (const { jobId, status: shown } of all.batches) {
      assert.ok(expected[shown as BatchStatus]?.includes(jobId), `${jobId} is ${shown}`);
      assert.equal((await status(jobId)).status, shown);
    }
  }

  it('has for each status the batches that are shown with it, and their number', async () => {
    const completed = await submit('completed', SLOTS);
    await end('completed-0', 'completed-1');
    await finished(completed);
    const cancelled = await submit('cancelled', SLOTS + 2);
    await run('cancelled-0', 'cancelled-1');
    const queued = await submit('queued', SLOTS);
    const alsoQueued = await submit('later', SLOTS);
    await assertListed({ completed: [completed], processing: [cancelled], queued: [alsoQueued, queued] });

    assert.equal((await caller.delete(`/v1/pdf/batch/${cancelled}`)).status, 200);
    await assertListed({ completed: [completed], cancelled: [cancelled], queued: [alsoQueued, queued] });
    await eventually(
      'those that wait are cancelled',
      async () => (await status(cancelled)).progress.failed === 2,
    );
    assert.equal((await status(cancelled)).finishedAt, null, 'two still run');
    await end('cancelled-0', 'cancelled-1');
    await finished(cancelled);

    const processing = queued;
    await run('queued-0', 'queued-1');
    const ended = { completed: [completed], cancelled: [cancelled] };
    await assertListed({ ...ended, processing: [processing], queued: [alsoQueued] });
    await end('queued-0');
    await run('later-0');
    await eventually('one is counted', async () => (await status(processing)).progress.completed === 1);
    await assertListed({
      completed: [completed],
      cancelled: [cancelled],
      processing: [alsoQueued, processing],
    });

    // One whose jobs nobody was able to write.
    const owner = { ...callerWith(api.domain.plan), accountId: caller.accountId };
    const { admission, store } = api.domain.batches;
    const failed = await admission.admit(owner, batchOf(SLOTS), pendingAdmission());
    await assertListed({ ...ended, processing: [alsoQueued, processing], queued: [failed._id] });
    await store.fail(failed);
    await assertListed({ ...ended, processing: [alsoQueued, processing], failed: [failed._id] });
    await end('queued-1', 'later-0', 'later-1');
    await finished(alsoQueued);
  });

  it('shows a batch as processing that has begun while all slots are elsewhere', async () => {
    const begun = await submit('begun', SLOTS + 2);
    const waiting = await submit('waiting', SLOTS);
    await run('begun-0', 'begun-1');
    const items = 2 * SLOTS;
    const waitingJobs = async () => (await api.domain.ledger.find(caller.accountId))?.waiting;
    await eventually('the other items wait', async () => (await waitingJobs()) === items);
    // Callers who wait for their PDFs go before the batches of the account.
    const renders = Array.from({ length: SLOTS }, () => caller.render({ html: '<p>x</p>' }));
    await eventually('they wait as well', async () => {
      const { waiting, pending = {} } = (await api.domain.ledger.find(caller.accountId)) ?? {};
      // At their positions, too: a job that is still to be written at its own is passed over.
      return waiting === items + SLOTS && Object.keys(pending).length === 0;
    });
    await end('begun-0', 'begun-1');
    const notItems = () => [...gates.keys()].filter((name) => !/^(begun|waiting)-/.test(name));
    await eventually('the callers have the slots', () => notItems().length === SLOTS);
    await eventually('two are counted', async () => (await status(begun)).progress.completed === 2);
    assert.equal((await status(begun)).progress.throttled, 2);
    await assertListed({ processing: [begun], queued: [waiting] });
    await end(...notItems(), 'begun-2', 'begun-3', 'waiting-0', 'waiting-1');
    for (const { status: responded } of await Promise.all(renders)) assert.equal(responded, 200);
    await finished(waiting);
    await assertListed({ completed: [waiting, begun] });
  });

  it('has of a status the batches of the own account alone', async () => {
    const mine = await submit('mine', SLOTS + 1);
    await run('mine-0', 'mine-1');
    const other = await api.newCaller();
    for (const asked of BATCH_STATUSES) {
      assert.equal((await other.get(`/v1/pdf/batch?status=${asked}`)).json.total, 0, asked);
    }
    await end('mine-0', 'mine-1', 'mine-2');
    await finished(mine);
  });
});
