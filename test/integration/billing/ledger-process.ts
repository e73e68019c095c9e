import { pino } from 'pino';
import { BlockPurchases } from '../../../src/billing/blocks/block-purchases.ts';
import { BlockStore } from '../../../src/billing/blocks/block-store.ts';
import { InvoiceMirror } from '../../../src/billing/invoices/invoice-mirror.ts';
import { StripeBlocks } from '../../../src/billing/stripe/stripe-blocks.ts';
import { StripeGateway } from '../../../src/billing/stripe/stripe-gateway.ts';
import { BillingStore } from '../../../src/billing/subscriptions/billing-store.ts';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { AccountStore } from '../../../src/tenants/accounts/account-store.ts';
import { MailOutbox } from '../../../src/tenants/mail/outbox.ts';
import { BlockLedger } from '../../../src/work/jobs/blocks/block-ledger.ts';
import { openLedgers } from '../../../src/work/jobs/ledger/ledger-record.ts';
import { TestClock } from '../../support/domain.ts';
import { killedAt } from '../../support/killed-at.ts';

/**
 * A dispatcher that only continues blocks, in a separate process:
 *
 * ledger-process.ts <database> <Stripe> <its key> <ms that its clock is ahead> [<before
 * after> <operation at which it is killed>]
 */
const [uri = '', apiBase = '', secretKey = '', ahead = '0', when, operation] = process.argv.slice(2);
const death = { when, operation };

const logger = pino({ level: 'silent' });
const connection = await connectDatabase(uri, logger);
const clock = new TestClock();
clock.pass(Number(ahead));
const accounts = new AccountStore(connection, clock);
const store = new BillingStore(connection, clock);
const ledger = new BlockPurchases({
  blocks: killedAt(new BlockStore(connection, clock), death),
  blockLedger: killedAt(new BlockLedger(openLedgers(connection), clock), death),
  gateway: killedAt(new StripeBlocks(new StripeGateway({ secretKey, apiBase })), death),
  mirror: new InvoiceMirror(connection),
  outbox: killedAt(new MailOutbox(connection, clock), death),
  async buyer(accountId) {
    const account = await accounts.find(accountId);
    const customerId = (await store.find(accountId))?.customerId;
    if (account === undefined) return undefined;
    return { customerId, email: account.email, quota: 2, quotaWindow: account.quotaWindow ?? null };
  },
  clock,
  logger,
});
while ((await ledger.sweep()) > 0);
process.exit(0);
