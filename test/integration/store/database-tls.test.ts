import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { connectDatabase, pingDatabase } from '../../../src/infra/store/connection.ts';
import { CLIENT, SERVER, STRANGER, writeCertificate } from '../../support/certificates.ts';
import { runCommand } from '../../support/command.ts';
import { socketPathOf } from '../../support/database-way.ts';
import { startMongo } from '../../support/mongo.ts';
import { startTlsFront, type TlsFront } from '../../support/tls-front.ts';

const logger = pino({ level: 'silent' });

describe('a database that requires TLS', () => {
  let front: TlsFront;
  let folder: string;
  let caFile: string;
  let otherCaFile: string;
  let plainUri: string;

  before(async () => {
    plainUri = (await startMongo()).uri;
    front = await startTlsFront(socketPathOf(plainUri));
    folder = await mkdtemp(join(tmpdir(), 'platen-test-tls-'));
    caFile = (await writeCertificate(folder, 'server', SERVER)).certFile;
    otherCaFile = (await writeCertificate(folder, 'stranger', STRANGER)).certFile;
  });
  after(async () => {
    await front.close();
    await rm(folder, { recursive: true });
  });

  /** Each refused connection is tried for this long. */
  const SELECTION_MS = '1500';

  const over = (host: string, port: number) =>
    new URL(plainUri.replace(encodeURIComponent(socketPathOf(plainUri)), `${host}:${port}`));

  /** The address of the database behind the front, as an operator writes it. */
  function uri(options: Record<string, string>, host = '127.0.0.1'): string {
    const written = over(host, front.port);
    for (const [name, value] of Object.entries(options)) written.searchParams.set(name, value);
    return written.href;
  }

  it('is written to and read over TLS, its authority given by a file', async () => {
    const before = front.accepted();
    const connection = await connectDatabase(uri({ tls: 'true', tlsCAFile: caFile }), logger);
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
    const environment = { MONGODB_URI: uri({ tls: 'true', tlsCAFile: caFile }) };
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
      const named = {
        'the authority of another server': otherCaFile,
        'a certificate for another host': caFile,
      };
      const ca = named[what as keyof typeof named];
      const more = { serverSelectionTimeoutMS: SELECTION_MS, ...(ca && { tlsCAFile: ca }) };
      const refused = connectDatabase(uri({ ...options, ...more }, host), logger);
      await assert.rejects(refused, problem);
    });
  }

  it('is named in the error when the file of its authority cannot be read', async () => {
    const refused = connectDatabase(uri({ tls: 'true', tlsCAFile: '/nowhere/ca.crt' }), logger);
    await assert.rejects(refused, /\/nowhere\/ca\.crt/);
  });

  describe('and for certificates of its clients', () => {
    let asking: TlsFront;
    let mine: { certFile: string; keyFile: string };
    before(async () => {
      mine = await writeCertificate(folder, 'client', CLIENT);
      asking = await startTlsFront(socketPathOf(plainUri), CLIENT.cert);
    });
    after(() => asking.close());

    const environment = (certificate?: { certFile: string; keyFile: string }) => {
      const written = over('127.0.0.1', asking.port);
      written.searchParams.set('tls', 'true');
      written.searchParams.set('tlsCAFile', caFile);
      written.searchParams.set('serverSelectionTimeoutMS', SELECTION_MS);
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

    it('rejects a client without one, or with one of another authority', async () => {
      const before = asking.accepted();
      const strange = await writeCertificate(folder, 'stranger', STRANGER);
      // Each is tried for as long as a server is looked for.
      for (const { code, stderr } of await Promise.all([undefined, strange].map(list))) {
        assert.equal(code, 1);
        assert.match(stderr, /database cannot be reached/);
      }
      assert.equal(asking.accepted(), before);
    });

    it('is not connected to when a file cannot be read, and the error names the setting', async () => {
      const listed = await list({ ...mine, keyFile: '/nowhere/tls.key' });
      assert.match(listed.stderr, /MONGODB_TLS_KEY \/nowhere\/tls\.key cannot be read/);
      const half = await runCommand(['accounts', 'list'], {
        environment: { ...environment(), MONGODB_TLS_CERT: mine.certFile },
      });
      assert.match(half.stderr, /MONGODB_TLS_CERT, MONGODB_TLS_KEY: must be set together/);
    });
  });
});
