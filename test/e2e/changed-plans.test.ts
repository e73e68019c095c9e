import assert from 'node:assert/strict';
import { rename, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Plan } from '../../src/tenants/plans/plan.ts';
import { type AccountClient, signUp } from '../support/account-client.ts';
import { TestClient } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { openTwins, type Twins } from '../support/twins.ts';

/** As long as a plan allows: it is not to end while the plan is changed. */
const LONG_RENDER = { html: '<p>x</p>', options: { waitForExpression: 'false', timeoutMs: 300_000 } };
const AT_FIRST: Partial<Plan> = {
  requestsPerMinute: 10_000,
  concurrentRenders: 1,
  maxActiveKeys: 2,
  maxTimeoutMs: 300_000,
};

/** What a process says once it has looked at a file that has changed. */
type Outcome = 'the plans file has been read again' | 'the plans stay as they were';

describe('A plan that changes while two processes run', () => {
  let twins: Twins;
  let owner: AccountClient;
  let callers: [TestClient, TestClient];

  before(async () => {
    twins = await openTwins({}, { PLATEN_WORKER_SLOTS: '4' });
    const [first, second] = twins.roles;
    owner = await signUp(first.url);
    const { id } = await owner.expect(200, 'GET', '/auth/me');
    await twins.accounts.setPlan(id, 'gold');
    await changeTo(AT_FIRST);
    const { apiKey } = await newKey(first.url, 201);
    callers = [new TestClient(first.url, apiKey), new TestClient(second.url, apiKey)];
  });
  after(() => twins?.stop());

  /** Put in the file's place as a whole, and in force at both, or refused by both, from when this resolves. */
  async function changeTo(
    gold: object,
    outcome: Outcome = 'the plans file has been read again',
  ): Promise<void> {
    const reported = () =>
      twins.roles.map(({ logs }) => logs.filter(({ msg }) => /^the plans /.test(String(msg))).length);
    const before = reported();
    await writeFile(`${twins.plansFile}.new`, JSON.stringify({ plans: { gold } }));
    await rename(`${twins.plansFile}.new`, twins.plansFile);
    const isSeen = () => reported().every((count, i) => count > before[i]!);
    await eventually('both have seen the change', isSeen);
    for (const { logs } of twins.roles)
      assert.equal(logs.findLast(({ msg }) => /^the plans /.test(String(msg)))?.msg, outcome);
  }

  const newKey = (url: string, status: number) =>
    owner.at(url).expect(status, 'POST', '/user/api-keys', { name: 'key' });

  const validity = () =>
    Promise.all(
      twins.roles.map(async ({ url }) => {
        const text = await (await fetch(`${url}/metrics`)).text();
        return Number(/^platen_plans_file_valid\{.*\} (\d)$/m.exec(text)?.[1]);
      }),
    );

  it('has its new maxActiveKeys at both', async () => {
    const [first, second] = twins.roles;
    await newKey(second.url, 201);
    for (const { url } of twins.roles) await newKey(url, 403);
    await changeTo({ ...AT_FIRST, maxActiveKeys: 4 });
    await newKey(second.url, 201);
    await newKey(first.url, 201);
    for (const { url } of twins.roles) await newKey(url, 403);
  });

  it('has its new concurrentRenders at both', async () => {
    const submissions = [0, 1, 0, 1, 0, 1].map((i) => callers[i]!.submit(LONG_RENDER));
    const jobIds = await Promise.all(submissions);
    const processing = async () =>
      (await callers[0].call('GET', '/v1/pdf/jobs?status=processing&limit=10')).json.total;
    await eventually('one is processed', async () => (await processing()) === 1);
    await sleep(1000);
    assert.equal(await processing(), 1);
    await changeTo({ ...AT_FIRST, concurrentRenders: 3 });
    await eventually('three are processed', async () => (await processing()) === 3);
    await sleep(1000);
    assert.equal(await processing(), 3);
    await changeTo({ ...AT_FIRST, concurrentRenders: 2 });
    const [ended] = (await callers[0].call('GET', '/v1/pdf/jobs?status=processing&limit=1')).json.jobs;
    await callers[1].call('DELETE', `/v1/pdf/jobs/${ended.jobId}`);
    await eventually('two are processed', async () => (await processing()) === 2);
    await sleep(1000);
    assert.equal(await processing(), 2);
    for (const jobId of jobIds) await callers[0].call('DELETE', `/v1/pdf/jobs/${jobId}`);
  });

  it('has its new requestsPerMinute at both', async () => {
    const checked = await callers[0].render({ html: '' });
    const leftOfWindowS = Number(/;t=(\d+)/.exec(checked.headers.get('ratelimit') ?? '')?.[1]);
    // Three changes, however long each takes, are to fall into one window.
    if (leftOfWindowS < 30) await sleep(leftOfWindowS * 1000 + 100);
    const used = Number(
      /;r=(\d+)/.exec((await callers[0].render({ html: '' })).headers.get('ratelimit')!)?.[1],
    );
    const soFar = AT_FIRST.requestsPerMinute! - used;
    await changeTo({ ...AT_FIRST, requestsPerMinute: soFar + 2 });
    const statuses = async () => {
      const responses = [];
      for (const caller of [...callers, ...callers])
        responses.push((await caller.render({ html: '' })).status);
      return responses;
    };
    assert.deepEqual(await statuses(), [400, 400, 429, 429]);
    await changeTo({ ...AT_FIRST, requestsPerMinute: soFar + 100 });
    assert.deepEqual(await statuses(), [400, 400, 400, 400]);
    await changeTo({ ...AT_FIRST, requestsPerMinute: 1 });
    assert.deepEqual(await statuses(), [429, 429, 429, 429]);
  });

  it('stays as it was while the file has errors, which each process logs once', async () => {
    await changeTo({ ...AT_FIRST, maxActiveKeys: 4 });
    assert.deepEqual(await validity(), [1, 1]);
    await changeTo({ ...AT_FIRST, maxActiveKeys: 99, colour: 'red' }, 'the plans stay as they were');
    // It is looked at again and again meanwhile.
    await sleep(2000);
    for (const role of twins.roles) {
      await newKey(role.url, 403);
      const reported = role.logs.filter(({ err }) =>
        /colour/.test((err as Error | undefined)?.message ?? ''),
      );
      assert.equal(reported.length, 1);
      assert.equal((await fetch(`${role.url}/readyz`)).status, 200);
    }
    assert.deepEqual(await validity(), [0, 0]);
    await changeTo({ ...AT_FIRST, maxActiveKeys: 5 });
    assert.deepEqual(await validity(), [1, 1]);
    await newKey(twins.roles[1].url, 201);
    for (const { url } of twins.roles) await newKey(url, 403);
  });
});
