import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { type Respond, RevocationAuthority } from '../../support/revocation-authority.ts';
import { type Identity, SealKeys } from '../../support/seal-keys.ts';
import { Signatures } from '../../support/signatures.ts';
import { TimestampAuthority } from '../../support/timestamp-authority.ts';
import { Receiver } from '../callbacks/support.ts';
import { JOB, openRig, type Rig } from './support.ts';

const CA = { keyUsage: 'keyCertSign,cRLSign', extensions: ['basicConstraints=critical,CA:TRUE'] };

/** A root that has a revocation list, an authority below it that responds to OCSP by a server of its own, and their keys. */
describe('A seal that can be checked later (B-LT)', () => {
  let keys: SealKeys;
  let judge: Signatures;
  let servers: RevocationAuthority;
  let stamps: TimestampAuthority;
  let middle: Identity;
  let responder: Identity;
  let ada: Identity;
  let rig: Rig;

  before(async () => {
    keys = await SealKeys.make();
    judge = new Signatures();
    servers = await RevocationAuthority.start();
    const listed = `crlDistributionPoints=URI:${servers.url('/root.crl')}`;
    middle = await keys.identity('Middle', { ...CA, extensions: [...CA.extensions, listed] });
    responder = await keys.identity('Responder', {
      by: middle,
      extendedKeyUsage: 'OCSPSigning',
      extensions: ['noCheck=ignored'],
    });
    const access = `authorityInfoAccess=OCSP;URI:${servers.url('/ocsp')},caIssuers;URI:${servers.url('/middle.cer')}`;
    const both = [access, `crlDistributionPoints=URI:${servers.url('/middle.crl')}`];
    ada = await keys.identity('Ada', { by: middle, extensions: both });
    await keys.add('ada', ada);
    const clock = await keys.identity('Clock', { extendedKeyUsage: 'timeStamping', extensions: [listed] });
    stamps = await TimestampAuthority.start(clock);
    rig = openRig(keys.folder, 1000);
    const lists = { root: await servers.list(keys.root), middle: await servers.list(middle) };
    servers.serve('/root.crl', (_request, _body, response) => response.end(lists.root));
    servers.serve('/middle.crl', (_request, _body, response) => response.end(lists.middle));
    const { raw } = new X509Certificate(await readFile(middle.cert));
    servers.serve('/middle.cer', (_request, _body, response) => response.end(raw));
    servers.serve('/ocsp', async (_request, body, response) =>
      response.end(await servers.ocsp(body, middle, responder)),
    );
  });
  after(async () => {
    judge.close();
    await rig.close();
    await stamps.close();
    await servers.close();
    await keys.close();
  });
  beforeEach(() => {
    servers.asked.length = 0;
  });

  const terms = (key: { keyId?: string; digestUrl?: string } = { keyId: 'ada' }) => ({
    seal: { key, timestampUrl: stamps.url, level: 'B-LT' as const },
    job: JOB,
    deadline: Date.now() + 20_000,
    signal: new AbortController().signal,
  });
  const sealed = async (asked = terms()) => {
    const { pdf, facts } = await rig.sealer.seal(await rig.place({ bytes: 40 * 1024 }), asked);
    assert.deepEqual([facts.level, facts.timestamp?.authority], ['B-LT', 'CN=Clock']);
    const [verdict, another] = await judge.verdictsLater(pdf, keys.authority);
    assert.equal(another, undefined);
    const { good, stamped, coverage, modified } = verdict!;
    assert.deepEqual(
      { good, stamped, coverage, modified },
      { good: true, stamped: true, coverage: 'ENTIRE_REVISION', modified: 'LTA_UPDATES' },
    );
    return pdf;
  };
  const refusal = async (asked = terms()) => {
    const error = await rig.sealer.seal(await rig.place({ bytes: 40 * 1024 }), asked).then(
      () => assert.fail('it was sealed'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof PlatenError, String(error));
    assert.equal(error.code, 'REVOCATION_FAILED');
    return { message: error.message, permanent: error.permanent };
  };
  /** While paths respond otherwise. */
  const whileServing = async <T>(routes: Record<string, Respond>, work: () => Promise<T>): Promise<T> => {
    const before = Object.entries(routes).map(
      ([path, respond]) => [path, servers.serve(path, respond)!] as const,
    );
    try {
      return await work();
    } finally {
      for (const [path, respond] of before) servers.serve(path, respond);
    }
  };
  const status =
    (code: number): Respond =>
    (_request, _body, response) =>
      response.writeHead(code).end();

  it('has all that pyHanko needs offline, also the issuer that the key did not bring, and nothing twice', async () => {
    const pdf = await sealed();
    assert.deepEqual(servers.asked.toSorted(), ['/middle.cer', '/ocsp', '/root.crl']);
    const text = Buffer.from(pdf).toString('latin1');
    const [, vri = ''] = /\/VRI <<\s*\/([0-9A-F]{40})/.exec(text) ?? [];
    assert.equal(vri.length, 40);
  });

  it('has it for a server of the customer', async () => {
    const receiver = await Receiver.start();
    receiver.respond = async (_request, response) => {
      const digest = Buffer.from(JSON.parse(receiver.received.at(-1)!.body).digest, 'base64');
      const cms = await judge.sign(digest, ada, { chain: [middle.cert, keys.authority] });
      response.end(JSON.stringify({ cms: cms.toString('base64') }));
    };
    await sealed(terms({ digestUrl: receiver.url() }));
    await receiver.close();
    assert.deepEqual(servers.asked.toSorted(), ['/ocsp', '/root.crl']);
  });

  it('takes the revocation list where OCSP is away or proves nothing', async () => {
    await whileServing({ '/ocsp': status(503) }, () => sealed());
    assert.equal(servers.asked.filter((path) => path === '/ocsp').length, 3);
    await whileServing({ '/ocsp': (_request, _body, response) => response.end('<html>') }, () => sealed());
    assert.ok(servers.asked.includes('/middle.crl'));
  });

  it('fails where servers are away, which may pass, or lead elsewhere', async () => {
    const away = await whileServing({ '/ocsp': status(500), '/middle.crl': status(500) }, () => refusal());
    assert.match(
      away.message,
      /not proven that the certificate of "CN=Ada" is not revoked\. .*ocsp failed: /,
    );
    assert.equal(away.permanent, false);
    const leads: Respond = (_request, _body, response) =>
      response.writeHead(302, { location: 'http://10.0.0.1/root.crl' }).end();
    const led = await whileServing({ '/root.crl': leads }, () => refusal());
    assert.match(led.message, /root\.crl failed: Redirects are not followed \(302\)/);
    assert.equal(led.permanent, true);
  });

  /** Sends more and more. */
  const pour: Respond = (_request, _body, response: ServerResponse) => {
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(64 * 1024)));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  };

  it('ends in its time and its bytes at an OCSP that never ends, and at a list of 100 MB', async () => {
    const list: Respond = (request, body, response) => {
      response.writeHead(200, { 'content-length': 100 * 1024 * 1024 });
      return pour(request, body, response);
    };
    const slow: Respond = (_request, _body, response) => response.write('x');
    const { message } = await whileServing({ '/ocsp': pour, '/middle.crl': list }, () => refusal());
    assert.match(message, /ocsp failed: Its response has more than 65536 bytes/);
    assert.match(message, /middle\.crl failed: Its response has more than 4194304 bytes/);
    const waited = await whileServing({ '/ocsp': slow, '/middle.crl': status(404) }, () => refusal());
    assert.match(waited.message, /ocsp failed: There was no response within 1 s/);
  });

  it('refuses responses of servers that lie, are late, or say that it is revoked', async () => {
    const [stranger, old] = [await keys.identity('Stranger', CA), await servers.list(middle, [], -1)];
    const serial = new X509Certificate(await readFile(ada.cert)).serialNumber;
    const revoked = await servers.list(middle, [serial]);
    const foreign = await servers.list(stranger);
    const list =
      (bytes: Buffer): Respond =>
      (_request, _body, response) =>
        response.end(bytes);
    const ocsp =
      (...how: [Identity, ('good' | 'revoked' | 'unknown')?]): Respond =>
      async (_request, body, response) =>
        response.end(await servers.ocsp(body, middle, ...how));
    const broken = Buffer.from(await servers.list(middle));
    broken[broken.length - 4]! ^= 1;
    const made: [reason: RegExp, routes: Record<string, Respond>][] = [
      [/"CN=Ada" has been revoked/, { '/ocsp': ocsp(responder, 'revoked') }],
      [/"CN=Ada" has been revoked/, { '/ocsp': status(404), '/middle.crl': list(revoked) }],
      [/does not know the certificate/, { '/ocsp': ocsp(responder, 'unknown'), '/middle.crl': status(404) }],
      [/is signed neither by the issuer/, { '/ocsp': ocsp(stranger), '/middle.crl': status(404) }],
      [/list of .* is not of now/, { '/ocsp': status(404), '/middle.crl': list(old) }],
      [/list of .* is not of the issuer/, { '/ocsp': status(404), '/middle.crl': list(foreign) }],
      [/list of .* is not signed by/, { '/ocsp': status(404), '/middle.crl': list(broken) }],
      [/list of .* cannot be read/, { '/ocsp': status(404), '/middle.crl': list(Buffer.alloc(9, 0xff)) }],
      [/its issuer is not known/, { '/middle.cer': list(Buffer.from('<html>')) }],
    ];
    for (const [reason, routes] of made) {
      const { message, permanent } = await whileServing(routes, () => refusal());
      assert.match(message, reason);
      assert.equal(permanent, true);
    }
  });

  it('refuses certificates that name no server, or one at a private address', async () => {
    await keys.add('unnamed', await keys.identity('Unnamed'));
    assert.match((await refusal(terms({ keyId: 'unnamed' }))).message, /names neither OCSP nor/);
    const extensions = ['crlDistributionPoints=URI:http://10.0.0.1/a.crl'];
    await keys.add('inside', await keys.identity('Inside', { extensions }));
    const { message, permanent } = await refusal(terms({ keyId: 'inside' }));
    assert.match(message, /10\.0\.0\.1\/a\.crl failed: .*may not be reached/);
    assert.equal(permanent, true);
  });

  it('finds a certificate among 40,000 that are revoked, in little time', async () => {
    const serials = Array.from({ length: 40_000 }, (_, i) =>
      (2 ** 40 + i).toString(16).toUpperCase().padStart(12, '0'),
    );
    const long = await servers.list(middle, serials);
    assert.ok(long.byteLength > 1_000_000);
    const serve: Respond = (_request, _body, response) => response.end(long);
    await whileServing({ '/ocsp': status(404), '/middle.crl': serve }, () => sealed());
  });
});
