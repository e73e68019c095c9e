import { pino } from 'pino';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { BatchStore } from '../../../src/work/batches/batch-store.ts';
import { openCallbacks } from '../../../src/work/callbacks/open-callbacks.ts';
import { TestClock } from '../../support/domain.ts';
import { killedAt } from '../../support/killed-at.ts';
import { openSender, testAgent } from './support.ts';

/*
 * A dispatcher that sends callbacks and nothing else, in a process of its own:
 *
 *   sender-process.ts <database> <ms that its clock is ahead> [<before|after> <operation at which it is killed>]
 */
const [uri = '', ahead = '0', when, operation] = process.argv.slice(2);
const death = { when, operation };

const connection = await connectDatabase(uri, pino({ level: 'silent' }));
const clock = new TestClock();
clock.pass(Number(ahead));
const callbacks = openCallbacks({ connection, clock });
const store = new BatchStore(connection, clock);
const sender = openSender({ callbacks, batches: { store }, clock }, testAgent(), {
  deliveries: killedAt(callbacks.deliveries, death),
  batches: killedAt(store, death),
});
await sender.send();
await sender.idle();
process.exit(0);
