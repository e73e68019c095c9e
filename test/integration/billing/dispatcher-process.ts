import { pino } from 'pino';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { AuditLog } from '../../../src/tenants/audit/audit-log.ts';
import { MailOutbox } from '../../../src/tenants/mail/outbox.ts';
import { StillClock } from '../../support/still-clock.ts';
import { openShop } from './life-rig.ts';

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
const connection = await connectDatabase(uri, pino({ level: 'silent' }));
const { selling } = openShop(connection, clock).bill(clock, apiBase, secretKey);
const { sync, blockPurchases, changes } = selling!;
while ((await sync.sweep()) + (await blockPurchases.sweep()) + (await changes.sweep()) > 0);
process.exit(0);
