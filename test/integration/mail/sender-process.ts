import { pino } from 'pino';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { MailOutbox } from '../../../src/tenants/mail/outbox.ts';
import { createSmtpTransport } from '../../../src/tenants/mail/smtp.ts';
import { TestClock } from '../../support/domain.ts';
import { openMailSender } from './support.ts';

/*
 * A dispatcher that sends mails and nothing else, in a process of its own:
 *
 *   sender-process.ts <database> <SMTP URL> <ms that its clock is ahead> [<before|after> <operation at which it is killed>]
 */
const [uri = '', smtpUrl = '', ahead = '0', when, operation] = process.argv.slice(2);

/** The same object, except that the process is killed at the operation. */
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
const outbox = killedAt(new MailOutbox(connection, clock));
const transport = killedAt(createSmtpTransport(smtpUrl));
const sender = openMailSender({ outbox, clock }, transport);
await sender.send();
process.exit(0);
