import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { quotaPeriod } from '../../../src/tenants/plans/quota-period.ts';
import { QuotaExtension } from '../../../src/work/jobs/blocks/quota-extension.ts';
import { type AccountClient, signUp } from '../../support/account-client.ts';
import { eventually } from '../../support/eventually.ts';
import type { Deliverer } from '../../support/stripe/deliverer.ts';
import type { StripeStandIn } from '../../support/stripe/stand-in.ts';
import { type TestApi, TestCaller } from '../http/support/api.ts';
import { openShopApi } from './shop-api.ts';

const QUOTA = 2;
const HTML = { html: '<p>x</p>' };
const DAY_MS = 86_400_000;

describe('blocks beyond the quota', () => {
  let api: TestApi;
  let standIn: StripeStandIn;
  let deliverer: Deliverer;
  let owner: AccountClient;
  let caller: TestCaller;
  let accountId: string;
  let driving: Promise<void> | undefined;
  let stopped = false;

  before(async () => {
    ({ api, standIn, deliverer } = await openShopApi({ monthlyRenders: QUOTA, concurrentRenders: 50 }));
  });
  after(async () => {
    await api?.close();
    await standIn?.close();
  });
  beforeEach(async () => {
    owner = await signUp(api.url);
    accountId = (await owner.expect(200, 'GET', '/auth/me')).id;
    const { id, apiKey } = await owner.expect(201, 'POST', '/user/api-keys', { name: 'mine' });
    caller = new TestCaller(api.url, accountId, id, apiKey);
    await owner.expect(200, 'POST', '/user/checkout', { plan: 'professional' });
    const page = [...standIn.books.sessions.values()].findLast(({ status }) => status === 'open')!;
    standIn.acts.completeCheckout(page.id);
    await follow();
    await eventually('the plan is in force', async () => {
      return (await owner.expect(200, 'GET', '/auth/me')).plan === 'professional';
    });
    stopped = false;
    driving = undefined;
  });
  afterEach(async () => {
    stopped = true;
    await driving;
    standIn.problemOf = () => undefined;
  });

  /** Delivers what has happened, and follows it, as a dispatcher does. */
  async function follow(): Promise<void> {
    const { events, sync, blockPurchases } = api.billing.selling!;
    standIn.catchUp();
    await deliverer.deliverAll();
    await events.resolveWaiting();
    await sync.sweep();
    await blockPurchases.sweep();
    await sync.sweep();
  }
  function drive(): void {
    driving = (async () => {
      while (!stopped) {
        await follow();
        await sleep(20);
      }
    })();
  }
  const enable = (spendCapCents = 1000) =>
    owner.expect(200, 'POST', '/user/subscription/auto-overage', { enabled: true, spendCapCents });
  const useQuota = async () => {
    for (let i = 0; i < QUOTA; i += 1) assert.equal((await caller.render(HTML)).status, 200);
  };
  const customerId = async () => (await api.billing.store.find(accountId))!.customerId!;
  const invoicesOfBlocks = async () => {
    const customer = await customerId();
    return [...standIn.books.invoices.values()].filter(
      (invoice) => invoice.customer === customer && invoice.metadata.blockId !== undefined,
    );
  };
  const overage = async () => (await api.billing.blockLedger.find(accountId))!.overage!;
  const remaining = async () => (await owner.expect(200, 'GET', '/user/usage')).remaining;
  const mails = async () => {
    const sent = await api.domain.connection.collection('mails').find({ accountId }).toArray();
    return sent.map(({ content }) => content.kind).sort();
  };

  /** The purchase may take longer than a caller waits for its PDF. */
  const assertLetIn = (status: number) => assert.ok([200, 202].includes(status), String(status));

  it('are bought once, however many requests use the quota up at once', async () => {
    await enable();
    await useQuota();
    drive();
    const responses = await Promise.all(Array.from({ length: 20 }, () => caller.render(HTML)));
    for (const { status } of responses) assertLetIn(status);
    assert.deepEqual(
      (await invoicesOfBlocks()).map(({ status, amount_paid }) => [status, amount_paid]),
      [['paid', 1000]],
    );
    const { spentCents, purchase } = await overage();
    assert.deepEqual([spentCents, purchase], [1000, undefined]);
    assert.equal(await remaining(), 1000 - 20);
    await eventually('the owner is notified', async () => (await mails()).length > 0);
    assert.deepEqual(await mails(), ['overage-purchased']);
  });

  it('are bought in an unused period: for a batch larger than the quota', async () => {
    await enable();
    drive();
    const items = Array.from({ length: QUOTA + 1 }, (_, at) => ({ id: `item-${at}`, ...HTML }));
    let response = await caller.call('POST', '/v1/pdf/batch', { items });
    while (response.status === 503) response = await caller.call('POST', '/v1/pdf/batch', { items });
    assert.equal(response.status, 202, JSON.stringify(response.json));
    assert.equal((await invoicesOfBlocks()).length, 1);
    assert.equal(await remaining(), 1000 - 1);
  });

  it('are bought for a plan without quota', async () => {
    await enable();
    const { blockLedger } = api.billing;
    const { quotaWindow } = (await api.accounts.find(accountId))!;
    const none = { period: quotaPeriod(api.domain.clock.now(), quotaWindow), limit: 0 };
    drive();
    const more = await new QuotaExtension(blockLedger, api.domain.clock).more(
      accountId,
      none,
      1,
      performance.now(),
    );
    assert.equal(more?.limit, 1000);
    assert.equal((await invoicesOfBlocks()).length, 1);
  });

  it('are not bought past the cap, nor for accounts that have not allowed it', async () => {
    await useQuota();
    assert.equal((await caller.render(HTML)).json.code, 'QUOTA_EXCEEDED');
    await enable();
    await api.billing.blockLedger.begin(accountId, (await overage()).cycle);
    await api.domain.connection
      .collection<{ _id: string }>('ledgers')
      .updateOne({ _id: accountId }, { $set: { 'overage.spentCents': 1 } });
    assert.equal((await caller.render(HTML)).json.code, 'QUOTA_EXCEEDED');
    assert.deepEqual(await invoicesOfBlocks(), []);
    const { json } = await owner.call('POST', '/user/subscription/auto-overage', {
      enabled: true,
      spendCapCents: 999,
    });
    assert.equal(json.code, 'VALIDATION');
  });

  it('leave nothing behind when the card is declined: no charge, no reservation, and no further try', async () => {
    await enable();
    await useQuota();
    standIn.acts.changeCard(await customerId(), 'declined');
    drive();
    for (let i = 0; i < 2; i += 1) {
      let { json } = await caller.render(HTML);
      while (json.code === 'OVERAGE_PENDING') ({ json } = await caller.render(HTML));
      assert.equal(json.code, 'QUOTA_EXCEEDED');
    }
    assert.deepEqual(
      (await invoicesOfBlocks()).map(({ status }) => status),
      ['void'],
    );
    const { enabled, spentCents, purchase } = await overage();
    assert.deepEqual([enabled, spentCents, purchase], [false, 0, undefined]);
    assert.deepEqual(await mails(), ['overage-failed']);
    assert.equal((await owner.expect(200, 'GET', '/user/subscription')).autoOverageEnabled, false);
  });

  it('wait for the customer where the bank demands a confirmation, and hold the gate meanwhile', async () => {
    await enable();
    await useQuota();
    standIn.acts.changeCard(await customerId(), 'authenticates');
    drive();
    const pending = caller.render(HTML);
    await eventually('the customer is asked', async () =>
      (await mails()).includes('overage-action-required'),
    );
    const [invoice] = await invoicesOfBlocks();
    standIn.acts.payHostedInvoice(invoice!.id);
    let { status } = await pending;
    while (status === 503) ({ status } = await caller.render(HTML));
    assertLetIn(status);
    assert.equal((await invoicesOfBlocks()).length, 1);
  });

  it('are given up when the customer does not confirm', async () => {
    await enable();
    await useQuota();
    standIn.acts.changeCard(await customerId(), 'authenticates');
    const { blockLedger } = api.billing;
    const record = (await blockLedger.find(accountId))!;
    const { quotaWindow } = (await api.accounts.find(accountId))!;
    const need = { period: quotaPeriod(api.domain.clock.now(), quotaWindow), limit: QUOTA, count: 1 };
    assert.equal(await blockLedger.reserve(record, 'block-given-up', need), true);
    await follow();
    assert.ok((await mails()).includes('overage-action-required'));
    assert.equal((await overage()).purchase?.blockId, 'block-given-up');
    api.domain.clock.pass(DAY_MS);
    await follow();
    assert.equal((await api.billing.blocks.find('block-given-up'))!.state, 'failed');
    const { enabled, purchase, spentCents } = await overage();
    assert.deepEqual([enabled, purchase, spentCents], [false, undefined, 0]);
  });

  for (const route of [
    '/v1/invoices',
    '/v1/invoices/:id/add_lines',
    '/v1/invoices/:id/finalize',
    '/v1/invoices/:id/pay',
  ]) {
    it(`are charged once when POST ${route} fails for good under its key`, async () => {
      await enable();
      await useQuota();
      let failed = false;
      standIn.problemOf = (asked) => {
        if (failed || asked.method !== 'POST' || asked.route !== route) return undefined;
        failed = true;
        return 'failed';
      };
      drive();
      let response = await caller.render(HTML);
      while (response.status === 503) response = await caller.render(HTML);
      assertLetIn(response.status);
      const paid = (await invoicesOfBlocks()).filter(({ status }) => status === 'paid');
      assert.equal(paid.length, 1);
    });

    it(`are charged once when the responses of POST ${route} are lost`, async () => {
      await enable();
      await useQuota();
      const errors: ('lost' | 'unsent')[] = ['unsent', 'lost', 'lost', 'lost'];
      standIn.problemOf = (asked) =>
        asked.method === 'POST' && asked.route === route ? errors.pop() : undefined;
      drive();
      let response = await caller.render(HTML);
      while (response.status === 503) response = await caller.render(HTML);
      assertLetIn(response.status);
      const paid = (await invoicesOfBlocks()).filter(({ status }) => status === 'paid');
      assert.equal(paid.length, 1);
      assert.equal((await overage()).spentCents, 1000);
      assert.equal(await remaining(), 1000 - 1);
    });
  }

  it('are bought by hand on a page, and used until the end of the next period', async () => {
    await useQuota();
    const { url } = await owner.expect(200, 'POST', '/user/overage', { blockSize: 1000 });
    const page = [...standIn.books.sessions.values()].find((session) => session.url === url)!;
    standIn.acts.completeCheckout(page.id);
    await follow();
    await follow();
    assert.equal(await remaining(), 1000);
    assert.equal((await caller.render(HTML)).status, 200);
    assert.equal(await remaining(), 999);
    api.domain.clock.pass(32 * DAY_MS);
    await follow();
    await follow();
    const { quotaWindow } = (await api.accounts.find(accountId))!;
    const period = quotaPeriod(api.domain.clock.now(), quotaWindow);
    assert.equal(await api.billing.blockLedger.left(accountId, period, QUOTA), 999 + QUOTA);
    api.domain.clock.pass(32 * DAY_MS);
    assert.equal(await api.billing.blockLedger.left(accountId, period, QUOTA), QUOTA);
  });

  it('are taken back with a refund, and frozen by a dispute until it is decided', async () => {
    await useQuota();
    for (let i = 0; i < 2; i += 1) {
      const { url } = await owner.expect(200, 'POST', '/user/overage', { blockSize: 1000 });
      standIn.acts.completeCheckout([...standIn.books.sessions.values()].find((s) => s.url === url)!.id);
      await follow();
      await follow();
    }
    assert.equal(await remaining(), 2000);
    const customer = await customerId();
    const charges = [...standIn.books.charges.values()].filter(
      (charge) => charge.customer === customer && charge.amount === 1000,
    );
    await api.billing.selling!.gateway.stripe.refunds.create({ charge: charges[0]!.id });
    await follow();
    assert.equal(await remaining(), 1000);
    await enable();
    const dispute = standIn.acts.dispute(charges[1]!.id);
    await follow();
    assert.equal(await remaining(), 0);
    assert.equal((await overage()).enabled, false);
    standIn.acts.decideDispute(dispute.id, 'won');
    await follow();
    assert.equal(await remaining(), 1000);
  });
});
