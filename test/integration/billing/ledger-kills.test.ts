import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Connection } from 'mongoose';
import { pino } from 'pino';
import { setUpStripe } from '../../../src/billing/setup.ts';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { LEASE_MS } from '../../../src/infra/store/due-queue.ts';
import { quotaPeriod } from '../../../src/tenants/plans/quota-period.ts';
import { BlockLedger } from '../../../src/work/jobs/blocks/block-ledger.ts';
import { openLedgers } from '../../../src/work/jobs/ledger/ledger-record.ts';
import { signUp } from '../../support/account-client.ts';
import { startMongo } from '../../support/mongo.ts';
import { StripeStandIn } from '../../support/stripe/stand-in.ts';
import { openApi, type TestApi } from '../http/support/api.ts';
import { POINTS_OF_A_BLOCK } from './points-of-a-block.ts';

const PROCESS = fileURLToPath(new URL('ledger-process.ts', import.meta.url));
/** Longer than a block is left to a silent dispatcher. */
const AHEAD_MS = LEASE_MS;
const QUOTA = 2;
const REQUESTS = 200;

describe('A purchase that 200 requests decide on at once, and whose dispatcher is killed', () => {
  let uri: string;
  let api: TestApi;
  let standIn: StripeStandIn;
  let base: string;
  let elsewhere: Connection;

  before(async () => {
    ({ uri } = await startMongo());
    standIn = new StripeStandIn({ clock: { now: () => api?.domain.clock.now() ?? new Date() } });
    base = await standIn.listen();
    api = await openApi({
      uri,
      plan: { monthlyRenders: QUOTA },
      billing: { STRIPE_SECRET_KEY: standIn.secretKey, STRIPE_API_BASE: base },
    });
    await setUpStripe(api.billing.selling!.gateway, api.plans, `${api.url}/webhooks/payments`);
    elsewhere = await connectDatabase(uri, pino({ level: 'silent' }));
  });
  after(async () => {
    await elsewhere?.close();
    await api?.close();
    await standIn?.close();
  });

  /** An account that has paid for a plan, has used up its quota, and lets one block be bought. */
  async function usedUp() {
    const owner = await signUp(api.url);
    const accountId: string = (await owner.expect(200, 'GET', '/auth/me')).id;
    await owner.expect(200, 'POST', '/user/checkout', { plan: 'professional' });
    const page = [...standIn.books.sessions.values()].findLast(({ status }) => status === 'open')!;
    standIn.acts.completeCheckout(page.id);
    await api.billing.selling!.sync.checkAt(accountId);
    const settings = { enabled: true, spendCapCents: 1000 };
    await owner.expect(200, 'POST', '/user/subscription/auto-overage', settings);
    const { quotaWindow } = (await api.accounts.find(accountId))!;
    const period = quotaPeriod(api.domain.clock.now(), quotaWindow);
    await api.domain.connection
      .collection<{ _id: string }>('ledgers')
      .updateOne({ _id: accountId }, { $set: { [`quota.${period}`]: QUOTA } });
    return { accountId, customerId: page.customer, need: { period, limit: QUOTA, count: 1 } };
  }

  /** Runs a dispatcher until it has nothing more to do. @returns what ended it, if it was killed. */
  async function dispatcher(ahead: number, ...killed: string[]): Promise<NodeJS.Signals | null> {
    const args = [PROCESS, uri, base, standIn.secretKey, String(ahead), ...killed];
    const running = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
    const [code, signal] = await once(running, 'exit');
    assert.ok(signal !== null || code === 0, `it ended with ${code}`);
    return signal;
  }

  for (const [point, when, operation] of POINTS_OF_A_BLOCK) {
    it(`is one block, charged once and granted once: ${point}`, async () => {
      const { accountId, customerId, need } = await usedUp();
      const both = [
        api.billing.blockLedger,
        new BlockLedger(openLedgers(elsewhere), api.domain.clock),
      ] as const;
      const decided = await Promise.all(
        Array.from({ length: REQUESTS }, async (_, index) => {
          const blockLedger = both[index % 2]!;
          const record = (await blockLedger.find(accountId))!;
          const blockId = randomUUID();
          return (await blockLedger.reserve(record, blockId, need)) ? [blockId] : [];
        }),
      );
      const [blockId, ...others] = decided.flat();
      assert.deepEqual(others, []);

      assert.equal(await dispatcher(0, when, operation), 'SIGKILL');
      assert.equal(await dispatcher(AHEAD_MS), null);

      const invoices = [...standIn.books.invoices.values()].filter(
        ({ customer, metadata }) => customer === customerId && metadata.blockId !== undefined,
      );
      assert.deepEqual(
        invoices.map(({ metadata, status, amount_paid: paid }) => [metadata.blockId, status, paid]),
        [[blockId, 'paid', 1000]],
      );
      const charges = [...standIn.books.charges.values()].filter(
        ({ customer, amount }) => customer === customerId && amount === 1000,
      );
      assert.equal(charges.length, 1);
      const { overage, blockBalance } = (await api.billing.blockLedger.find(accountId))!;
      assert.deepEqual([overage?.spentCents, overage?.purchase], [1000, undefined]);
      assert.deepEqual(
        Object.entries(blockBalance!.blocks).map(([id, { left }]) => [id, left]),
        [[blockId, 1000]],
      );
      assert.equal((await api.billing.blocks.find(blockId!))!.state, 'granted');
      const mails = await api.domain.connection.collection('mails').find({ accountId }).toArray();
      assert.deepEqual(
        mails.map(({ content }) => content.kind),
        ['overage-purchased'],
      );
    });
  }
});
