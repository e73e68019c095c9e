import assert from 'node:assert/strict';
import type { EndState, Job } from '../../../src/work/jobs/job.ts';
import { AccountClient } from '../../support/account-client.ts';
import { documentsRead } from '../../support/documents-read.ts';
import { newJob } from '../../support/domain.ts';
import { type TestCaller, useApi } from './support/api.ts';

const RENDERS = 10_002;
const AT_ONCE = RENDERS / 6;
/** Rows on a page of the dashboard. */
const PAGE = 25;
const STATES: readonly EndState[] = ['completed', 'failed', 'cancelled'];
/** The account, its access token and the key, where they are not at hand. */
const OF_THE_CALLER = 5;

describe(`The list of renders of an account that has had ${RENDERS}`, () => {
  const api = useApi();
  let caller: TestCaller;
  let owner: AccountClient;
  const began = Date.now();

  before(async () => {
    caller = await api.newCaller();
    const { token } = await api.tenants.tokens.issue(caller.accountId);
    owner = new AccountClient(api.url, token);
    const history = api.domain.connection.collection<Job>('job_history');
    for (let from = 0; from < RENDERS; from += AT_ONCE) {
      const jobs = Array.from({ length: AT_ONCE }, (_, i) => newJob(caller.accountId, ended(from + i)).job);
      await history.insertMany(jobs);
    }
  });

  /** One a second before the one before; three states and two modes by turns. */
  function ended(n: number): Partial<Job> {
    const createdAt = new Date(began - n * 1000);
    return {
      apiKeyId: caller.apiKeyId,
      state: STATES[n % STATES.length]!,
      test: n % 2 === 1,
      createdAt,
      expiresAt: new Date(createdAt.getTime() + 24 * 3_600_000),
      completedAt: new Date(createdAt.getTime() + tookMs(n)),
      fileName: n % 1000 === 7 ? `Receipt ${n}.pdf` : 'invoice.pdf',
      ...(n % 3 === 1 && {
        error: { code: n % 4 === 0 ? 'RENDER_TIMEOUT' : 'EXCEPTION_THROWN', message: 'x' },
      }),
      // Says which it is.
      processingTimeMs: n,
    };
  }

  /** The slowest is the 100th. */
  function tookMs(n: number): number {
    return n === 100 ? 60_000 : 100 + (n % 7);
  }

  const span = 300;
  const since = encodeURIComponent(new Date(began - (span - 1) * 1000).toISOString());
  /** Of each state and mode a page is found, and one page of them all is read. */
  const found = (states: number, modes: number) => (states * modes + 1) * PAGE;
  const CASES: readonly [
    filters: string,
    total: number,
    /** The first of the page, and from one of its rows to the next. */
    rows: readonly [first: number, step: number],
    read: number,
  ][] = [
    ['', RENDERS, [0, 1], found(3, 2)],
    ['&offset=100', RENDERS, [100, 1], 3 * 2 * (100 + PAGE) + PAGE],
    ['&sort=created_asc', RENDERS, [RENDERS - 1, -1], found(3, 2)],
    ['&status=completed', RENDERS / 3, [0, 3], found(1, 2)],
    ['&status=failed', RENDERS / 3, [1, 3], found(1, 2)],
    ['&status=cancelled', RENDERS / 3, [2, 3], found(1, 2)],
    ['&status=queued', 0, [0, 0], 0],
    ['&status=processing', 0, [0, 0], 0],
    ['&mode=live', RENDERS / 2, [0, 2], found(3, 1)],
    ['&mode=test', RENDERS / 2, [1, 2], found(3, 1)],
    ['&status=failed&mode=test', RENDERS / 6, [1, 6], found(1, 1)],
    // What is of the span is counted one by one, with what of it has expired.
    [`&from=${since}`, span, [0, 1], found(3, 2) + 2 * span],
    [`&status=failed&from=${since}`, span / 3, [1, 3], found(1, 2) + 2 * span],
  ];

  for (const [filters, total, [first, step], read] of CASES) {
    it(`reads ${read} documents and not ${RENDERS} with ${filters.replace(/=2.*/, '=…') || 'no filter'}`, async () => {
      const list = () => owner.expect(200, 'GET', `/user/renders?limit=${PAGE}${filters}`);
      const page = await list();
      const rows = Array.from({ length: Math.min(PAGE, total) }, (_, i) => first + i * step);
      assert.deepEqual(
        page.renders.map((row: { processingTimeMs: number }) => row.processingTimeMs),
        rows,
      );
      assert.equal(page.total, total);
      const took = await documentsRead(api.domain.connection, list);
      assert.ok(took <= read + OF_THE_CALLER, `${took} documents`);
    });
  }

  const search = (query: string) => owner.expect(200, 'GET', `/user/renders?limit=${PAGE}&${query}`);
  const numbers = (page: { renders: { processingTimeMs: number }[] }) =>
    page.renders.map((row) => row.processingTimeMs);

  it('is searched by name, error and duration among 5,000 of them, and on from where that has ended', async () => {
    const thousands = (from: number) => Array.from({ length: 5 }, (_, i) => from + 1000 * i);
    const first = await search('search=RECEIPT');
    assert.deepEqual([first.total, numbers(first)], [5, thousands(7)]);
    assert.equal(Date.parse(first.searchedTo), began - 5000 * 1000 + 1);
    const second = await search(`search=receipt&to=${first.searchedTo}`);
    assert.deepEqual([second.total, numbers(second)], [5, thousands(5007)]);
    const third = await search(`search=receipt&to=${second.searchedTo}`);
    assert.deepEqual([third.total, third.searchedTo], [0, null]);
    const oldest = await search('search=receipt&sort=created_asc');
    assert.deepEqual(numbers(oldest), thousands(5007).toReversed());
    const newer = await search(`search=receipt&sort=created_asc&from=${oldest.searchedTo}`);
    assert.deepEqual(numbers(newer), thousands(7).toReversed());
    const slow = await search('sort=duration_desc&mode=live');
    assert.equal(numbers(slow)[0], 100);
    assert.deepEqual(numbers(await search('minMs=1000')), [100]);
    assert.equal((await search('maxMs=99')).total, 0);
    const [one] = slow.renders;
    assert.deepEqual(numbers(await search(`search=${one.jobId.slice(-8)}`)), [100]);
    // Of the failed ones 3,334 are there, so all are looked at.
    const timeouts = await search('error=RENDER_TIMEOUT');
    assert.deepEqual(numbers(timeouts).slice(0, 3), [4, 16, 28]);
    assert.deepEqual([timeouts.total, timeouts.searchedTo], [834, null]);
    assert.equal((await search('error=RENDER_TIMEOUT&status=completed')).total, 0);
    assert.equal((await search('apiKeyId=none')).total, 0);
  });

  it('reads no more documents in a search than it examines, and a part of each list', async () => {
    const took = await documentsRead(api.domain.connection, () => search('search=nothing-like-this'));
    assert.ok(took <= 5001 + 3 * 2 * 500 + OF_THE_CALLER, `${took} documents`);
  });
});
