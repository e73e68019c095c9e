import assert from 'node:assert/strict';
import type { EndState, Job } from '../../../src/work/jobs/job.ts';
import { documentsRead } from '../../support/documents-read.ts';
import { newJob, useDomain } from '../../support/domain.ts';

const OWN = 12_000;
const OTHERS = 5000;
const AT_ONCE = 2000;
const HOUR_MS = 3_600_000;
const STATES: readonly EndState[] = ['completed', 'failed', 'cancelled'];
const PAGE = 20;

describe('The jobs of an account that has had many', () => {
  const domain = useDomain();
  let began: number;

  before(async () => {
    began = domain.clock.now().getTime();
    const history = domain.connection.collection<Job>('job_history');
    const insert = async (count: number, job: (n: number) => Partial<Job>, accountId: string) => {
      for (let from = 0; from < count; from += AT_ONCE) {
        const some = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => job(from + i));
        await history.insertMany(some.map((overrides) => newJob(accountId, overrides).job));
      }
    };
    await insert(OWN, ended, 'own');
    // Those of test keys, and items of a batch, which are not listed.
    await insert(3, (n) => ({ ...ended(n), test: true }), 'own');
    const item = { batchId: 'b', id: 'i', chunk: 0 };
    await insert(OTHERS, (n) => ({ ...ended(n), item: { ...item, index: n } }), 'own');
    await insert(OTHERS, ended, 'other');
  });

  /** One a second before the one before, in each state by turns; the last of them expire first. */
  function ended(n: number): Partial<Job> {
    const createdAt = new Date(began - n * 1000);
    return {
      state: STATES[n % STATES.length]!,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + 24 * HOUR_MS),
      // Says which it is.
      processingTimeMs: n,
    };
  }

  const list = (query: { offset?: number; newestFirst?: boolean; states?: EndState[]; test?: boolean }) =>
    domain.store.list({ accountId: 'own', test: false, limit: PAGE, offset: 0, newestFirst: true, ...query });
  const numbers = (from: number, step: number) => Array.from({ length: PAGE }, (_, i) => from + i * step);

  it(`are listed and counted without reading ${OWN}`, async () => {
    const lists: [query: Parameters<typeof list>[0], total: number, expected: number[], read: number][] = [
      [{}, OWN, numbers(0, 1), 4 * PAGE],
      [{ newestFirst: false }, OWN, numbers(OWN - 1, -1), 4 * PAGE],
      [{ offset: 100 }, OWN, numbers(100, 1), 3 * (100 + PAGE) + PAGE],
      [{ states: ['failed'] }, OWN / 3, numbers(1, 3), 2 * PAGE],
      [{ test: true }, 3, [0, 1, 2], 6],
    ];
    for (const [query, total, expected, read] of lists) {
      const { total: counted, jobs } = await list(query);
      const found = jobs.map(({ processingTimeMs }) => processingTimeMs);
      assert.deepEqual([counted, found], [total, expected], JSON.stringify(query));
      const took = await documentsRead(domain.connection, () => list(query));
      assert.equal(took, read, JSON.stringify(query));
    }
  });

  it('are listed of both modes, and of a span of time, without reading more than that has', async () => {
    const page = { accountId: 'own', limit: PAGE, offset: 0, newestFirst: true };
    const both = () => domain.store.list(page);
    assert.equal((await both()).total, OWN + 3);
    // A page of each state of live keys and the few of test keys, and then those that are shown.
    assert.equal(await documentsRead(domain.connection, both), 3 * PAGE + 3 + PAGE);
    const span = 300;
    const within = {
      ...page,
      test: false,
      from: new Date(began - (1000 + span - 1) * 1000),
      to: new Date(began - 999 * 1000),
    };
    const { total, jobs } = await domain.store.list(within);
    assert.deepEqual([total, jobs.map(({ processingTimeMs }) => processingTimeMs)], [span, numbers(1000, 1)]);
    const read = await documentsRead(domain.connection, () => domain.store.list(within));
    assert.ok(read <= 4 * PAGE + 2 * span, `${read} documents`);
  });

  it('leave out expired jobs that are not deleted yet, and find these for that without reading the rest', async () => {
    const gone = 200;
    // However long it has taken to write them.
    const now = began + 24 * HOUR_MS - (OWN - gone - 1) * 1000 - 500;
    domain.clock.pass(now - domain.clock.now().getTime());
    const { total, jobs } = await list({ newestFirst: false });
    const oldest = jobs[0]!.processingTimeMs;
    assert.ok(Math.abs(OWN - total - gone) < 60, `${total} are left`);
    assert.equal(total, oldest + 1);
    const { connection } = domain;
    const read = await documentsRead(connection, () => list({ newestFirst: false }));
    // In each of the states, those that have expired are passed over, and counted.
    assert.ok(read < 3 * (PAGE + 2 * (gone + 60)), `${read} documents`);
    const expired = await documentsRead(connection, () =>
      domain.store.history.expired(domain.clock.now(), 10),
    );
    assert.equal(expired, 10);
  });

  it('are all read where the index is missing, and that shows', async () => {
    const fields = { accountId: 1, 'item.batchId': 1, test: 1, state: 1, createdAt: 1, _id: 1 };
    await domain.connection.db!.command({ dropIndexes: 'job_history', index: fields });
    const read = await documentsRead(domain.connection, () => list({}));
    assert.ok(read >= OWN, `${read} documents`);
  });
});
