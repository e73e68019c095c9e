import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { connectDatabase, pingDatabase } from '../../../src/store/connection.ts';
import { CLIENT, STRANGER, writeCertificate } from '../../support/client-certificates.ts';
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

  describe('and for certificates of its clients', () => {
    let asking: TlsFront;
    let folder: string;
    let mine: { certFile: string; keyFile: string };
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'platen-test-client-'));
      mine = await writeCertificate(folder, 'client', CLIENT);
      asking = await startTlsFront(Number(new URL(plainUri).port), CLIENT.cert);
    });
    after(async () => {
      await asking.close();
      await rm(folder, { recursive: true });
    });

    const environment = (certificate?: { certFile: string; keyFile: string }) => {
      const written = new URL(plainUri);
      written.host = `127.0.0.1:${asking.port}`;
      written.searchParams.set('tls', 'true');
      written.searchParams.set('tlsCAFile', asking.caFile);
      written.searchParams.set('serverSelectionTimeoutMS', '2000');
      return {
        MONGODB_URI: written.href,
        ...(certificate && { MONGODB_TLS_CERT: certificate.certFile, MONGODB_TLS_KEY: certificate.keyFile }),
      };
    };
    const list = (certificate?: { certFile: string; keyFile: string }) =>
      runCommand(['accounts', 'list'], { environment: environment(certificate) });

    it('is shown the one that the settings name', async () => {
      const before = asking.accepted();
      const listed = await list(mine);
      assert.equal(listed.code, 0, listed.stderr);
      assert.ok(asking.accepted() > before);
    });

    it('lets nobody in who shows none, or that of a stranger', async () => {
      const before = asking.accepted();
      const strange = await writeCertificate(folder, 'stranger', STRANGER);
      // Each is tried for as long as a server is looked for.
      for (const { code, stderr } of await Promise.all([undefined, strange].map(list))) {
        assert.equal(code, 1);
        assert.match(stderr, /database cannot be reached/);
      }
      assert.equal(asking.accepted(), before);
    });

    it('is not asked when a file cannot be read, and the setting is named', async () => {
      const listed = await list({ ...mine, keyFile: '/nowhere/tls.key' });
      assert.match(listed.stderr, /MONGODB_TLS_KEY \/nowhere\/tls\.key cannot be read/);
      const half = await runCommand(['accounts', 'list'], {
        environment: { ...environment(), MONGODB_TLS_CERT: mine.certFile },
      });
      assert.match(half.stderr, /MONGODB_TLS_CERT, MONGODB_TLS_KEY: must be set together/);
    });
  });
});
