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
      // Says which it is.
      processingTimeMs: n,
    };
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
});
