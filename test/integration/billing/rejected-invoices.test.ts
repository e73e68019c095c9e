import assert from 'node:assert/strict';
import { BY_BILLING } from '../../../src/tenants/audit/audit-log.ts';
import { BlockOracle } from './block-oracle.ts';
import { type Life, useLifeRig } from './life-rig.ts';

const PRICE = 1_000;
/** No longer than a request waits for a purchase. */
const WAIT_S = 10;

describe('A block whose invoice Stripe rejects', () => {
  const rig = useLifeRig();
  let life: Life;
  let oracle: BlockOracle;

  beforeEach(async () => {
    life = await rig.begin();
    oracle = new BlockOracle(life, rig);
    const { accountId, standIn, selling } = life;
    await selling.subscriptions.checkout(accountId, 'starter');
    standIn.acts.completeCheckout([...standIn.books.sessions.keys()].at(-1)!);
    await selling.sync.checkAt(accountId);
    await selling.autoOverage.set(accountId, { enabled: true, capCents: PRICE }, BY_BILLING);
    await oracle.useUp();
    assert.deepEqual(await oracle.request(1), ['told to retry']);
  });
  afterEach(() => life?.end());

  function reject(route: string, times: number): void {
    let left = times;
    life.standIn.problemOf = (asked) =>
      asked.method === 'POST' && asked.route === route && left-- > 0 ? 'refused' : undefined;
  }
  async function wait(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      await life.selling.blockPurchases.sweep();
      life.clock.pass(1_000);
    }
  }
  const errors = async () => {
    const { values } = await rig.metrics.billingErrors.get();
    return values.find(({ labels }) => labels.kind === 'refused')!.value;
  };
  const mails = async () => {
    const sent = await rig.connection.collection('mails').find({ accountId: life.accountId }).toArray();
    return sent.map(({ content }) => content.kind);
  };
  const states = async () => (await oracle.blocks()).map(({ state }) => state);
  const invoices = () =>
    [...life.standIn.books.invoices.values()]
      .filter(({ metadata }) => metadata.blockId !== undefined)
      .map(({ status }) => status);

  for (const route of ['/v1/invoices', '/v1/invoices/:id/add_lines', '/v1/invoices/:id/finalize']) {
    it(`is given up while requests wait for it, when POST ${route} is rejected for good`, async () => {
      const before = await errors();
      reject(route, Number.POSITIVE_INFINITY);
      await wait(WAIT_S);
      assert.deepEqual([await states(), invoices()], [['failed'], []]);
      const { enabled, spentCents, purchase } = (await life.billing.blockLedger.find(life.accountId))!
        .overage!;
      assert.deepEqual([enabled, spentCents, purchase], [false, 0, undefined]);
      assert.deepEqual([await mails(), await errors()], [['overage-failed'], before + 1]);
      assert.deepEqual(await oracle.request(1), ['refused']);
      await oracle.check();
    });

    it(`is blockBalance once, when POST ${route} is rejected three times`, async () => {
      reject(route, 3);
      await wait(WAIT_S);
      assert.deepEqual([await states(), invoices()], [['granted'], ['paid']]);
      assert.deepEqual(await mails(), ['overage-purchased']);
      await oracle.check();
    });
  }

  it('is not given up for errors without a decision, however many there are', async () => {
    life.standIn.problemOf = ({ method, route }) =>
      method === 'POST' && route === '/v1/invoices' ? 'busy' : undefined;
    await wait(WAIT_S);
    assert.deepEqual([await states(), await mails()], [['reserved'], []]);
    const counts = await life.billing.blocks.counts();
    assert.deepEqual([counts.reserved, counts.on_page], [1, 0]);
  });

  it('is counted separately from blocks on hosted pages', async () => {
    await life.selling.blockCheckouts.buy(life.accountId, 1_000);
    const { reserved, on_page, granted } = await life.billing.blocks.counts();
    assert.deepEqual([reserved, on_page, granted], [0, 1, 0]);
  });
});
