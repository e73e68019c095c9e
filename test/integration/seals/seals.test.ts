import assert from 'node:assert/strict';
import { sign, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { PDFDocument } from '@cantoo/pdf-lib';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { buildCms } from '../../../src/render/seal/build-cms.ts';
import { signatures as signaturesOf } from '../../../src/work/callbacks/signature.ts';
import { hasPdfsig, pdfsigVerdicts } from '../../support/pdfsig.ts';
import { type Identity, opensslVerifies, SealKeys, signatureOf } from '../../support/seal-keys.ts';
import { Signatures } from '../../support/signatures.ts';
import { type Received, Receiver } from '../callbacks/support.ts';
import { JOB, openRig, type Rig, SECRET } from './support.ts';

/** Made once by `openssl genrsa -primes 5 16384`: making one takes long. */
const HUGE_KEY = new URL('../../fixtures/rsa-16384.pem', import.meta.url).pathname;

describe('A seal', () => {
  let keys: SealKeys;
  let judge: Signatures;
  let ada: Identity;
  let huge: Identity;
  let rig: Rig;
  let receiver: Receiver;
  /** Signs what it is sent; a test may make something else of it. */
  let serve: (digest: Buffer, response: ServerResponse, received: Received) => Promise<unknown> | unknown;

  before(async () => {
    keys = await SealKeys.make();
    judge = new Signatures();
    ada = await keys.identity('Ada');
    await keys.add('ada', ada);
    huge = await keys.identity('Huge', { key: HUGE_KEY });
    rig = openRig(keys.folder, 1000);
    receiver = await Receiver.start();
    receiver.respond = (_request, response) => {
      const received = receiver.received.at(-1)!;
      void serve(Buffer.from(JSON.parse(received.body).digest, 'base64'), response, received);
    };
  });
  after(async () => {
    judge.close();
    await rig.close();
    await receiver.close();
    await keys.close();
  });
  beforeEach(() => {
    receiver.received.length = 0;
    rig.logged.length = 0;
    rig.counted.length = 0;
    serve = async (digest, response) =>
      respond(response, await judge.sign(digest, ada, { chain: [keys.authority] }));
  });

  const respond = (response: ServerResponse, cms: Uint8Array) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ cms: Buffer.from(cms).toString('base64') }));
  const terms = (key: { keyId?: string; digestUrl?: string }, ms = 20_000) => ({
    seal: { key },
    job: JOB,
    deadline: Date.now() + ms,
    signal: new AbortController().signal,
  });
  const byServer = (ms?: number) => terms({ digestUrl: receiver.url('/sign') }, ms);
  const refusal = async (asked: ReturnType<typeof terms>, place = rig.place()) => {
    const error = await rig.sealer.seal(await place, asked).then(
      () => assert.fail('it was sealed'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof PlatenError, String(error));
    assert.equal(error.code, 'SEAL_FAILED');
    return { message: error.message, permanent: error.permanent };
  };

  describe('by a key of the operator', () => {
    it('is valid for openssl and pyHanko, with its texts, and a byte that is changed is seen', async () => {
      const texts = { reason: 'Ünder (a) \\ /ByteRange [0 1 2 3] /Contents <00>', location: 'Wien 漢' };
      const pdf = await rig.place(texts);
      const { facts } = await rig.sealer.seal(pdf, terms({ keyId: 'ada' }));
      assert.deepEqual(
        [facts.level, facts.subject, facts.issuer],
        ['B-B', 'CN=Ada', 'CN=Authority of tests'],
      );
      await opensslVerifies(pdf, keys.authority);
      const [verdict, another] = await judge.verdicts(pdf, keys.authority);
      assert.equal(another, undefined);
      assert.deepEqual(verdict, {
        ...{
          intact: true,
          valid: true,
          trusted: true,
          good: true,
          coverage: 'ENTIRE_FILE',
          modified: 'NONE',
        },
        ...{ signer: 'Ada', ...texts, filter: '/ETSI.CAdES.detached', stamped: false },
        // Without signing_time, which PAdES forbids here.
        attributes: ['content_type', 'message_digest', 'signing_certificate_v2'],
      });
      const changed = Buffer.from(pdf);
      const at = changed.lastIndexOf('/Type /Page');
      changed.write('/Type /Pagf', at, 'latin1');
      await assert.rejects(opensslVerifies(changed, keys.authority), /verification failure/i);
      const [seen] = await judge.verdicts(changed, keys.authority);
      assert.deepEqual([seen?.intact, seen?.good], [false, false]);
      assert.deepEqual(rig.counted, ['keyId sealed']);
    });

    it('is valid for pdfsig, which trusts the authority, and a byte that is changed is seen', async function () {
      if (!hasPdfsig) this.skip();
      const pdf = await rig.place({ reason: 'Approved', location: 'Wien' });
      await rig.sealer.seal(pdf, terms({ keyId: 'ada' }));
      const verdict = { field: 'Seal', signature: 'Signature is Valid.', total: true };
      assert.deepEqual(await pdfsigVerdicts(pdf, keys.authority), [
        { ...verdict, certificate: 'Certificate is Trusted.' },
      ]);
      const others = await SealKeys.make();
      assert.deepEqual(await pdfsigVerdicts(pdf, others.authority), [
        { ...verdict, certificate: "Certificate issuer isn't Trusted." },
      ]);
      await others.close();
      const changed = Buffer.from(pdf);
      changed.write('/Type /Pagf', changed.lastIndexOf('/Type /Page'), 'latin1');
      const [seen] = await pdfsigVerdicts(changed, keys.authority);
      assert.deepEqual([seen?.signature, seen?.certificate], ['Digest Mismatch.', undefined]);
    });

    it('has a field whose name no field of a PDF that was sent has', async () => {
      const sent = await PDFDocument.create();
      const page = sent.addPage();
      for (const name of ['Seal', 'Seal 2']) sent.getForm().createTextField(name).addToPage(page);
      const pdf = await rig.place({}, await sent.save());
      await rig.sealer.seal(pdf, terms({ keyId: 'ada' }));
      const [verdict] = await judge.verdicts(pdf, keys.authority);
      assert.equal(verdict?.good, true);
      const fields = (await PDFDocument.load(pdf)).getForm().getFields();
      assert.deepEqual(
        fields.map((field) => field.getName()),
        ['Seal', 'Seal 2', 'Seal 3'],
      );
    });

    it('is by RSA too, by keys of old files, and by files that begin with an authority', async () => {
      const rsa = await keys.identity('Rsa', {
        algorithm: ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048'],
      });
      await keys.add('rsa', rsa, { password: '' });
      await keys.add('old', rsa, {
        how: ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES', '-macalg', 'sha1'],
      });
      const reversed = await judge.pkcs12(rsa.key, [keys.authority, rsa.cert], 'x');
      await keys.put('reversed', reversed, 'x');
      for (const keyId of ['rsa', 'old', 'reversed']) {
        const pdf = await rig.place();
        await rig.sealer.seal(pdf, terms({ keyId }));
        const [verdict] = await judge.verdicts(pdf, keys.authority);
        assert.deepEqual([verdict?.good, verdict?.signer], [true, 'Rsa'], keyId);
      }
    });

    it('takes a key of 16,384 bits', async () => {
      await keys.add('huge', huge);
      const pdf = await rig.place();
      await rig.sealer.seal(pdf, terms({ keyId: 'huge' }));
      await opensslVerifies(pdf, keys.authority);
    });

    it('is for the accounts of the key alone, and nobody learns of other keys', async () => {
      await keys.add('others', ada, { accounts: 'account-b\naccount-c' });
      const { message: foreign } = await refusal(terms({ keyId: 'others' }));
      const { message: unknown, permanent } = await refusal(terms({ keyId: 'absent' }));
      assert.equal(foreign, 'The account has no key "others": its operator assigns keys.');
      assert.equal(unknown, foreign.replace('others', 'absent'));
      assert.equal(permanent, true);
      await keys.add('others', ada, { accounts: `account-b ${JOB.accountId}` });
      await rig.sealer.seal(await rig.place(), terms({ keyId: 'others' }));
    });

    it('fails where the key cannot be used: the operator finds why in the log, and the customer does not', async () => {
      const stranger = await keys.identity('Stranger');
      await keys.add('expired', await keys.identity('Late', { days: 0 }));
      await keys.add('early', await keys.identity('Early', { begins: '20990101000000Z' }));
      await keys.add('ciphers', await keys.identity('Ciphers', { keyUsage: 'keyEncipherment' }));
      await keys.add('locked', ada);
      await keys.setPassword('locked', 'another');
      await keys.put('mismatched', await judge.pkcs12(stranger.key, [keys.authority, ada.cert], 'x'), 'x');
      const reasons: Record<string, RegExp> = {
        expired: /expired on 20/,
        early: /is by a certificate that is valid from 2099-01-01T00:00:00/,
        ciphers: /may not sign/,
        locked: /is no PKCS #12 file that locked.password opens/,
        mismatched: /no certificate in it is that of its key/,
      };
      for (const [keyId, reason] of Object.entries(reasons)) {
        const { message } = await refusal(terms({ keyId }));
        assert.match(message, /cannot be used at present: the operator/);
        assert.match(rig.logged.at(-1) ?? '', reason);
      }
      assert.doesNotMatch(rig.logged.join(), /PRIVATE|pass wörd|another/);
    });
  });

  describe('by the server of a customer', () => {
    it('asks by a request that is signed as callbacks are, and puts the CMS into the PDF', async () => {
      const pdf = await rig.place();
      const { facts } = await rig.sealer.seal(pdf, byServer());
      assert.equal(facts.subject, 'CN=Ada');
      await opensslVerifies(pdf, keys.authority);
      const [verdict] = await judge.verdicts(pdf, keys.authority);
      assert.deepEqual([verdict?.good, verdict?.coverage], [true, 'ENTIRE_FILE']);
      const [{ body, headers, path } = assert.fail(), another] = receiver.received;
      assert.equal(another, undefined);
      assert.equal(path, '/sign');
      const { digest, id, ...rest } = JSON.parse(body);
      assert.equal(Buffer.from(digest, 'base64').length, 32);
      assert.deepEqual(rest, {
        ...{ event: 'seal.requested', jobId: JOB._id, attempt: 1, algorithm: 'SHA-256' },
      });
      const timestamp = Number(headers['x-service-timestamp']);
      assert.equal(headers['x-service-delivery-id'], id);
      assert.equal(
        headers['x-service-signature-v2'],
        signaturesOf([SECRET], { deliveryId: id, timestamp, body }),
      );
      assert.equal(headers['webhook-id'], id);
      assert.deepEqual(rig.waiting.slice(-2), [1, 0]);
    });

    it('asks again, with the same id, while the server is away or busy', async () => {
      const sign = serve;
      serve = (...asked) => (receiver.received.length < 3 ? asked[1].writeHead(503).end() : sign(...asked));
      await rig.sealer.seal(await rig.place(), byServer());
      assert.equal(receiver.received.length, 3);
      assert.equal(new Set(receiver.received.map(({ body }) => body)).size, 1);
      serve = (_digest, response) => response.writeHead(500).end();
      assert.deepEqual(await refusal(byServer()), {
        message: 'The server of digestUrl failed: It responded with status 500.',
        permanent: false,
      });
    });

    const responses: Record<string, [(response: ServerResponse) => unknown, RegExp, requests: number]> = {
      'that refuses': [(response) => response.writeHead(403).end(), /responded with status 403/, 1],
      'that is slow': [() => undefined, /no response within 1 s/, 3],
      'that is slow in the middle': [
        (response) => response.writeHead(200).write('{"cms": "'),
        /no response within 1 s/,
        3,
      ],
      'that never ends': [
        (response) => {
          const pour = (): void => {
            while (!response.destroyed && response.write('A'.repeat(16 * 1024)));
            if (!response.destroyed) response.once('drain', pour);
          };
          response.writeHead(200);
          pour();
        },
        /more than 65536 bytes/,
        1,
      ],
      'that leads to a private address': [
        (response) => response.writeHead(307, { location: 'https://10.0.0.1/sign' }).end(),
        /Redirects are not followed \(307\)/,
        1,
      ],
      'that cuts off': [(response) => response.writeHead(200).destroy(), /The connection failed/, 3],
      'that sends no JSON': [(response) => response.end('<html>'), /is not \{"cms": /, 1],
      'that sends another value': [(response) => response.end('{"cms": [1]}'), /is not \{"cms": /, 1],
      'that sends no CMS': [
        (response) => respond(response, Buffer.from('hello')),
        /cannot be read|not DER/,
        1,
      ],
      'that nests without end': [
        (response) => respond(response, Buffer.concat(Array(12_000).fill(Buffer.from([0x30, 0x80])))),
        /cannot be read|not DER/,
        1,
      ],
      'that sends too much': [
        (response) => respond(response, Buffer.alloc(30_000)),
        /has 30000 bytes, and may have 24576/,
        1,
      ],
    };
    for (const [title, [make, reason, requests]] of Object.entries(responses))
      it(`fails with what was wrong at a server ${title}`, async () => {
        serve = (_digest, response) => make(response);
        assert.match((await refusal(byServer())).message, reason);
        assert.equal(receiver.received.length, requests);
      });

    it('fails for a signature that is none of the PDF, of its signer, or of now', async () => {
      const stranger = await keys.identity('Stranger');
      const late = await keys.identity('Late', { days: 0 });
      const early = await keys.identity('Early', { begins: '20990101000000Z' });
      const ciphers = await keys.identity('Ciphers', { keyUsage: 'keyEncipherment' });
      const other = Buffer.alloc(32, 1);
      const made: [reason: RegExp, make: (digest: Buffer) => Promise<Buffer>][] = [
        [/is of another digest/, () => judge.sign(other, ada)],
        [/expired on/, (digest) => judge.sign(digest, late)],
        [/by a certificate that is valid from 2099-01-01T/, (digest) => judge.sign(digest, early)],
        [/may not sign/, (digest) => judge.sign(digest, ciphers)],
        [/not by the key of its certificate/, (digest) => judge.sign(digest, { ...ada, key: stranger.key })],
        [/has the time of its signing/, (digest) => judge.sign(digest, ada, { timed: true })],
        [
          /not by the key of its certificate/,
          async (digest) => {
            const cms = await judge.sign(digest, ada);
            cms[cms.length - 3]! ^= 1;
            return cms;
          },
        ],
        [/not DER/, async (digest) => Buffer.concat([await judge.sign(digest, ada), Buffer.from([0])])],
      ];
      for (const [reason, make] of made) {
        serve = async (digest, response) => respond(response, await make(digest));
        const { message, permanent } = await refusal(byServer());
        assert.match(message, reason);
        assert.equal(permanent, true);
      }
    });

    it('takes a signature of 16,384 bits', async () => {
      const key = await readFile(HUGE_KEY);
      const signer = {
        certificate: new X509Certificate(await readFile(huge.cert)).raw,
        ...{ certificateChain: [], keyType: 'RSA' as const },
        sign: async (data: Uint8Array) => sign('sha256', data, key),
      };
      serve = async (digest, response) => respond(response, await buildCms(digest, signer));
      const pdf = await rig.place();
      await rig.sealer.seal(pdf, byServer());
      await opensslVerifies(pdf, keys.authority);
    });

    it('sends nothing to private addresses', async () => {
      for (const digestUrl of ['https://10.1.2.3/', 'https://169.254.169.254/', 'https://[::1]/']) {
        const { message, permanent } = await refusal(terms({ digestUrl }));
        assert.match(message, /may not be reached/);
        assert.equal(permanent, true);
      }
    });

    it('ends with its render', async () => {
      serve = () => undefined;
      const end = new AbortController();
      const sealing = rig.sealer.seal(await rig.place(), { ...byServer(), signal: end.signal });
      setTimeout(() => end.abort('lost'), 50);
      await assert.rejects(sealing, (reason) => reason === 'lost');
      const { message } = await refusal(byServer(150));
      assert.match(message, /failed: /);
    });
  });

  it('leaves no trace of what stood in its place', async () => {
    const pdf = await rig.place();
    await rig.sealer.seal(pdf, terms({ keyId: 'ada' }));
    const { cms, begin, end } = signatureOf(pdf);
    const rest = Buffer.from(pdf).toString('latin1', begin + 1 + 2 * cms.length, end - 1);
    assert.match(rest, /^0+$/);
  });
});
