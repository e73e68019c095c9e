import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Connection } from 'mongoose';
import { pino } from 'pino';
import { ensureIndexes } from '../../../src/infra/store/collection-spec.ts';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { createFolderTransport } from '../../../src/tenants/mail/folder.ts';
import { MailOutbox } from '../../../src/tenants/mail/outbox.ts';
import { createSmtpTransport } from '../../../src/tenants/mail/smtp.ts';
import { TestClock } from '../../support/domain.ts';
import { MailServer } from '../../support/mail-server.ts';
import { startMongo } from '../../support/mongo.ts';
import { openMailSender, purchased } from './support.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('Mails', () => {
  let connection: Connection;
  let clock: TestClock;
  let outbox: MailOutbox;
  let server: MailServer;

  before(async () => {
    connection = await connectDatabase((await startMongo()).uri, pino({ level: 'silent' }));
    clock = new TestClock();
    outbox = new MailOutbox(connection, clock);
    await ensureIndexes(connection);
  });
  after(() => connection?.close());
  beforeEach(async () => {
    server = await MailServer.start();
  });
  afterEach(async () => {
    await server.close();
    await connection.collection('mails').deleteMany({});
  });

  const sender = (overrides: Parameters<typeof openMailSender>[2] = {}) =>
    openMailSender({ outbox, clock }, createSmtpTransport(server.url), overrides);

  it('reach a mail server as plain text and HTML, once for each id', async () => {
    for (let count = 0; count < 3; count += 1) await outbox.enqueue(purchased('block-1:granted'));
    assert.equal(await sender().send(), 1);
    await outbox.enqueue(purchased('block-1:granted'));
    assert.equal(await sender().send(), 0);
    const [mail, ...others] = server.delivered;
    assert.equal(others.length, 0);
    assert.deepEqual([mail!.from, mail!.to], ['billing@platen.test', ['ada@example.com']]);
    for (const part of [
      /^Subject: 1,000 PDFs bought by auto overage$/m,
      /^Message-ID: <block-1\.granted@platen\.test>$/m,
      /^Auto-Submitted: auto-generated$/m,
      /^Content-Type: multipart\/alternative;/m,
      /^Content-Type: text\/plain;/m,
      /^Content-Type: text\/html;/m,
    ])
      assert.match(mail!.message.replaceAll('\r', ''), part);
  });

  it('go to one address, whatever its characters', async () => {
    const to = '"a, eve@evil.test" <ada@example.com>';
    await outbox.enqueue(purchased('odd', to));
    await sender().send();
    assert.ok(server.delivered.every((mail) => mail.to.length === 1));
    assert.ok(!server.delivered.some((mail) => mail.to.includes('eve@evil.test')));
  });

  it('are retried at growing intervals while the mail server is unreachable or busy', async () => {
    await outbox.enqueue(purchased('block'));
    server.rejects = () => ({ code: 451, message: 'Try again later' });
    const outcomes: string[] = [];
    const trying = sender({ observe: (outcome) => outcomes.push(outcome) });
    await trying.send();
    await trying.send();
    assert.deepEqual(outcomes, ['retried']);
    assert.match((await outbox.find('block'))!.error!, /Try again later/);
    server.rejects = () => undefined;
    clock.pass(61_000);
    await trying.send();
    assert.deepEqual([outcomes, server.delivered.length], [['retried', 'sent'], 1]);
  });

  it('fail when the mail server rejects them permanently', async () => {
    await outbox.enqueue(purchased('block'));
    server.rejects = () => ({ code: 550, message: 'No such user' });
    const outcomes: string[] = [];
    await sender({ observe: (outcome) => outcomes.push(outcome) }).send();
    const { state, dueAt, error } = (await outbox.find('block'))!;
    assert.deepEqual([outcomes, state, dueAt], [['failed'], 'failed', undefined]);
    assert.match(error!, /No such user/);
  });

  it('fail when all attempts of several days have failed', async () => {
    await outbox.enqueue(purchased('block'));
    server.rejects = () => ({ code: 451, message: 'Try again later' });
    for (let tries = 0; tries < 10; tries += 1) {
      await sender().send();
      clock.pass(DAY_MS + HOUR_MS);
    }
    const { state, attempts } = (await outbox.find('block'))!;
    assert.deepEqual([state, attempts], ['failed', 10]);
  });

  it('are left unsent when the process stops and the mail server does not respond', async () => {
    await outbox.enqueue(purchased('block'));
    const stopping = openMailSender(
      { outbox, clock },
      { send: () => new Promise(() => stopping.stop(10)), close: () => undefined },
    );
    assert.equal(await stopping.send(), 0);
    const { state, attempts, dueAt } = (await outbox.find('block'))!;
    assert.deepEqual([state, attempts], ['waiting', 0]);
    assert.ok(dueAt! > clock.now());
  });

  it('wait while the addresses of their links are not known', async () => {
    await outbox.enqueue(purchased('block'));
    await sender({ links: async () => undefined }).send();
    const { state, attempts } = (await outbox.find('block'))!;
    assert.deepEqual([state, attempts], ['waiting', 0]);
  });

  it('are counted while they wait, with the age of the oldest', async () => {
    assert.deepEqual(await outbox.waiting(), { count: 0, oldestMs: 0 });
    await outbox.enqueue(purchased('first'));
    clock.pass(HOUR_MS);
    await outbox.enqueue(purchased('second'));
    const { count, oldestMs } = await outbox.waiting();
    assert.equal(count, 2);
    assert.ok(oldestMs >= HOUR_MS);
    await sender().send();
    assert.equal((await outbox.waiting()).count, 0);
  });

  it('are deleted after 90 days', async () => {
    await outbox.enqueue(purchased('old'));
    clock.pass(89 * DAY_MS);
    assert.equal(await outbox.deleteOld(clock.now()), 0);
    clock.pass(2 * DAY_MS);
    assert.equal(await outbox.deleteOld(clock.now()), 1);
  });

  it('are accepted by a server that requires a password', async () => {
    const strict = await MailServer.start({ name: 'platen', password: 's3cret' });
    try {
      await outbox.enqueue(purchased('block'));
      const url = `smtp://platen:s3cret@127.0.0.1:${strict.port}`;
      await openMailSender({ outbox, clock }, createSmtpTransport(url)).send();
      assert.equal(strict.delivered.length, 1);
    } finally {
      await strict.close();
    }
  });

  it('become files without a mail server, one file for all attempts', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'platen-mails-'));
    try {
      const written = createFolderTransport(join(folder, 'mails'), pino({ level: 'silent' }));
      await outbox.enqueue(purchased('block-1:granted'));
      await openMailSender({ outbox, clock }, written).send();
      assert.deepEqual(await readdir(join(folder, 'mails')), ['block-1.granted.eml']);
      const file = await readFile(join(folder, 'mails', 'block-1.granted.eml'), 'utf8');
      assert.match(file, /^To: ada@example\.com$/m);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
