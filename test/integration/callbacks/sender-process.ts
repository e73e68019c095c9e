import { pino } from 'pino';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { BatchStore } from '../../../src/work/batches/batch-store.ts';
import { openCallbacks } from '../../../src/work/callbacks/open-callbacks.ts';
import { SigningKeys } from '../../../src/work/callbacks/signing-keys.ts';
import { TestClock } from '../../support/domain.ts';
import { openSender, testAgent } from './support.ts';

/*
 * A dispatcher that sends callbacks and nothing else, in a process of its own:
 *
 *   sender-process.ts <database> <ms that its clock is ahead> [<before|after> <operation at which it is killed>]
 */
const [uri = '', ahead = '0', when, operation] = process.argv.slice(2);

/** The same object, but the process ends at the operation, without warning. */
function killedAt<T extends object>(target: T): T {
  return new Proxy(target, {
    get(object, name) {
      const value = Reflect.get(object, name, object);
      if (typeof value !== 'function') return value;
      if (name !== operation) return value.bind(object);
      return async (...args: unknown[]) => {
        if (when === 'after') await value.apply(object, args);
        process.kill(process.pid, 'SIGKILL');
      };
    },
  });
}

const connection = await connectDatabase(uri, pino({ level: 'silent' }));
const clock = new TestClock();
clock.pass(Number(ahead));
const callbacks = { ...openCallbacks(connection, clock), keys: new SigningKeys(connection, clock) };
const store = new BatchStore(connection, clock);
const sender = openSender({ callbacks, batches: { store }, clock }, testAgent(), {
  deliveries: killedAt(callbacks.deliveries),
  batches: killedAt(store),
});
await sender.send();
await sender.idle();
process.exit(0);
