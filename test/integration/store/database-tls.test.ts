import assert from 'node:assert/strict';
import pino from 'pino';
import { connectDatabase, pingDatabase } from '../../../src/store/connection.ts';
import { runCommand } from '../../support/command.ts';
import { startMongo } from '../../support/mongo.ts';
import { startTlsFront, type TlsFront } from '../../support/tls-front.ts';

const logger = pino({ level: 'silent' });

describe('a database that asks for TLS', function () {
  this.timeout(60_000);
  let front: TlsFront;
  let other: TlsFront;
  let plainUri: string;

  before(async () => {
    plainUri = (await startMongo()).uri;
    const { port } = new URL(plainUri);
    [front, other] = await Promise.all([startTlsFront(Number(port)), startTlsFront(Number(port))]);
  });
  after(() => Promise.all([front.close(), other.close()]));

  /** The address of the database behind the front, as an operator writes it. */
  function uri(options: Record<string, string>, host = '127.0.0.1'): string {
    const written = new URL(plainUri);
    written.host = `${host}:${front.port}`;
    for (const [name, value] of Object.entries(options)) written.searchParams.set(name, value);
    return written.href;
  }

  it('is written to and read over TLS, its authority given by a file', async () => {
    const before = front.accepted();
    const connection = await connectDatabase(uri({ tls: 'true', tlsCAFile: front.caFile }), logger);
    try {
      await pingDatabase(connection);
      const things = connection.db!.collection<{ _id: string; text: string }>('things');
      await things.insertOne({ _id: 'one', text: 'over TLS' });
      assert.equal((await things.findOne({ _id: 'one' }))?.text, 'over TLS');
    } finally {
      await connection.close();
    }
    assert.ok(front.accepted() > before);
    // It is the same database as the one behind.
    const plain = await connectDatabase(plainUri, logger);
    assert.equal(await plain.db!.collection('things').countDocuments(), 1);
    await plain.close();
  });

  it('is what MONGODB_URI says', async () => {
    const before = front.accepted();
    const environment = { MONGODB_URI: uri({ tls: 'true', tlsCAFile: front.caFile }) };
    const created = await runCommand(['accounts', 'create', 'tls@example.com', '--json'], { environment });
    assert.equal(created.code, 0, created.stderr);
    const listed = await runCommand(['accounts', 'list'], { environment });
    assert.match(listed.stdout, /tls@example\.com/);
    assert.ok(front.accepted() > before);
  });

  for (const [what, options, host, problem] of [
    ['an authority that nobody has named', { tls: 'true' }, '127.0.0.1', /certificate/],
    ['the authority of another server', { tls: 'true' }, '127.0.0.1', /certificate/],
    ['a certificate for another host', { tls: 'true' }, 'localhost', /altnames|Hostname/],
    ['no TLS', {}, '127.0.0.1', /closed|ECONNRESET|timed out/],
  ] as const) {
    it(`is not connected to with ${what}`, async () => {
      const caFile = {
        'the authority of another server': other.caFile,
        'a certificate for another host': front.caFile,
      };
      const ca = caFile[what as keyof typeof caFile];
      const refused = connectDatabase(uri({ ...options, ...(ca && { tlsCAFile: ca }) }, host), logger);
      await assert.rejects(refused, problem);
    });
  }

  it('is named in the fault when the file of its authority cannot be read', async () => {
    const refused = connectDatabase(uri({ tls: 'true', tlsCAFile: '/nowhere/ca.crt' }), logger);
    await assert.rejects(refused, /\/nowhere\/ca\.crt/);
  });
});
