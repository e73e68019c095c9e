import { pino } from 'pino';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { MailOutbox } from '../../../src/tenants/mail/outbox.ts';
import { createSmtpTransport } from '../../../src/tenants/mail/smtp.ts';
import { TestClock } from '../../support/domain.ts';
import { killedAt } from '../../support/killed-at.ts';
import { openMailSender } from './support.ts';

/*
 * A dispatcher that sends mails and nothing else, in a process of its own:
 *
 *   sender-process.ts <database> <SMTP URL> <ms that its clock is ahead> [<before|after> <operation at which it is killed>]
 */
const [uri = '', smtpUrl = '', ahead = '0', when, operation] = process.argv.slice(2);
const death = { when, operation };

const connection = await connectDatabase(uri, pino({ level: 'silent' }));
const clock = new TestClock();
clock.pass(Number(ahead));
const outbox = killedAt(new MailOutbox(connection, clock), death);
const transport = killedAt(createSmtpTransport(smtpUrl), death);
const sender = openMailSender({ outbox, clock }, transport);
await sender.send();
process.exit(0);
