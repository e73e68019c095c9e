import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { quotaPeriod } from '../../../../src/tenants/plans/quota-period.ts';
import { eventually } from '../../../support/eventually.ts';
import type { Reply } from '../../../support/send.ts';
import { type TestCaller, useApi } from '../support/api.ts';

/** Longer than a lock lasts that nobody renews. */
const STALL_MS = 7000;
const ITEMS = ['a', 'b'];

/** It has its key, stands still until another has gone on in its place and is through, and then goes on as well. */
describe('A keyed request whose process stands still', () => {
  const api = useApi();
  let caller: TestCaller;
  let templateId: string;
  let key: string;
  let renders: number;
  beforeEach(async () => {
    caller = await api.newCaller();
    const draft = { name: 'x', content: '<p>x</p>', sampleData: '{}' };
    templateId = (await api.templates.create(caller.accountId, draft)).template._id;
    key = randomUUID();
    renders = 0;
    api.worker.render = async () => {
      renders += 1;
      return { pages: 1 };
    };
  });

  /** Holds the next request back between its key and what it takes for its work. */
  function holdNext(): { reached: Promise<void>; goOn: () => void } {
    const { templates } = api;
    const reached = Promise.withResolvers<void>();
    const held = Promise.withResolvers<void>();
    const resolve = templates.resolve.bind(templates);
    templates.resolve = async (...wanted) => {
      templates.resolve = resolve;
      reached.resolve();
      await held.promise;
      return resolve(...wanted);
    };
    return { reached: reached.promise, goOn: held.resolve };
  }

  const submissions: [what: string, count: number, submission: () => [path: string, body: unknown]][] = [
    ['a render', 1, () => ['/v1/pdf', { templateId, executionMode: 'async' }]],
    ['a batch', 2, () => ['/v1/pdf/batch', { items: ITEMS.map((id) => ({ id, templateId })) }]],
  ];
  for (const [what, count, submission] of submissions) {
    it(`skips each step of ${what} that another process has done for it`, async () => {
      const ask = () => caller.post(...submission(), { 'idempotency-key': key });
      const { reached, goOn } = holdNext();
      const stalled = ask();
      await reached;
      let other: Reply | undefined;
      await eventually('another goes on in its place', async () => {
        api.domain.clock.pass(STALL_MS);
        other = await ask();
        return other.status === 202;
      });
      await eventually('it has been rendered', () => renders === count);
      await through();
      goOn();
      const late = await stalled;
      assert.deepEqual([late.status, late.json.code], [409, 'IDEMPOTENCY_IN_PROGRESS']);
      await through();
      assert.equal(renders, count);
      const period = quotaPeriod(api.domain.clock.now());
      assert.equal(await api.domain.ledger.quotaUsed(caller.accountId, period), count);
      assert.equal((await ask()).json.jobId, other!.json.jobId);
    });
  }

  /** Nothing of the account is live any more. */
  async function through(): Promise<void> {
    await eventually('its jobs are over', async () => {
      await api.domain.flush();
      const record = await api.domain.ledger.find(caller.accountId);
      const named = [record?.holders, record?.pending, record?.ending].flatMap((of) => Object.keys(of ?? {}));
      return record?.waiting === 0 && named.length === 0;
    });
  }
});
