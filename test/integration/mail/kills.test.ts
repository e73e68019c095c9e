import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Connection } from 'mongoose';
import { pino } from 'pino';
import { ensureIndexes } from '../../../src/infra/store/collection-spec.ts';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { MailOutbox } from '../../../src/tenants/mail/outbox.ts';
import { TestClock } from '../../support/domain.ts';
import { MailServer } from '../../support/mail-server.ts';
import { startMongo } from '../../support/mongo.ts';
import { purchased } from './support.ts';

const PROCESS = fileURLToPath(new URL('sender-process.ts', import.meta.url));
/** Longer than the lease of a mail. */
const AHEAD_MS = 121_000;

describe('A dispatcher that is killed while it sends a mail', () => {
  let uri: string;
  let connection: Connection;
  let outbox: MailOutbox;
  let server: MailServer;

  before(async () => {
    ({ uri } = await startMongo());
    connection = await connectDatabase(uri, pino({ level: 'silent' }));
    outbox = new MailOutbox(connection, new TestClock());
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

  /** Runs a dispatcher until it ends. @returns what ended it, if it was killed. */
  async function dispatcher(...args: string[]): Promise<NodeJS.Signals | null> {
    const running = spawn(process.execPath, [PROCESS, uri, server.url, ...args], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const [code, signal] = await once(running, 'exit');
    assert.ok(signal !== null || code === 0, `it ended with ${code}`);
    return signal;
  }

  for (const [point, when, operation, times] of [
    ['before it has claimed it', 'before', 'claim', 1],
    ['after it has claimed it', 'after', 'claim', 1],
    ['when the mail server has it', 'after', 'send', 2],
    ['after it has noted the outcome', 'after', 'finishAttempt', 1],
  ] as const) {
    it(`leaves it to the next one, with the same Message-ID: ${point}`, async () => {
      await outbox.enqueue(purchased('block:granted'));
      assert.equal(await dispatcher('0', when, operation), 'SIGKILL');
      assert.equal(await dispatcher(String(AHEAD_MS)), null);
      assert.equal((await outbox.find('block:granted'))!.state, 'sent');
      assert.equal(server.delivered.length, times);
      const ids = server.delivered.map(({ message }) => /^Message-ID: (.*)$/m.exec(message)![1]);
      assert.equal(new Set(ids).size, 1);
    });
  }
});
