import { pino } from 'pino';
import { openBilling } from '../../../src/billing/open-billing.ts';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { AuditLog } from '../../../src/tenants/audit/audit-log.ts';
import { MailOutbox } from '../../../src/tenants/mail/outbox.ts';
import { BlockLedger } from '../../../src/work/jobs/blocks/block-ledger.ts';
import { openLedgers } from '../../../src/work/jobs/ledger/ledger-record.ts';
import { StillClock } from '../../support/still-clock.ts';
import { openAccounts } from './life-rig.ts';

/** Whose the operations are that it can be killed at. */
const OWNERS = { recordOnce: AuditLog, enqueue: MailOutbox } as const;
export type Killing = keyof typeof OWNERS;

/*
 * A dispatcher that follows what there is to follow, and is killed by the first operation of a kind:
 *
 *   dispatcher-process.ts <database> <Stripe> <its key> <epoch milliseconds> <before|after> <operation>
 */
const [uri = '', apiBase = '', secretKey = '', at = '', when, operation] = process.argv.slice(2);
const { prototype } = OWNERS[operation as Killing];
const work: unknown = Reflect.get(prototype, operation!);
if (typeof work !== 'function') throw new Error(`There is no ${operation}.`);
Reflect.set(prototype, operation!, async function (this: object, ...args: unknown[]) {
  if (when === 'after') await Reflect.apply(work, this, args);
  process.kill(process.pid, 'SIGKILL');
});
const clock = new StillClock();
clock.pass(Number(at) - clock.now().getTime());
const logger = pino({ level: 'silent' });
const connection = await connectDatabase(uri, logger);
const { selling } = openBilling({
  ...openAccounts(connection, clock),
  ...{
    connection,
    clock,
    blockLedger: new BlockLedger(openLedgers(connection), clock),
    outbox: new MailOutbox(connection, clock),
  },
  config: { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: undefined, STRIPE_API_BASE: apiBase },
  publicUrl: () => 'https://platen.test',
});
const { sync, blockPurchases, changes } = selling!;
while ((await sync.sweep()) + (await blockPurchases.sweep()) + (await changes.sweep()) > 0);
process.exit(0);
