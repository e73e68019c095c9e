import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { type Identity, opensslVerifies, SealKeys } from '../../support/seal-keys.ts';
import { Signatures } from '../../support/signatures.ts';
import { TimestampAuthority } from '../../support/timestamp-authority.ts';
import { Receiver } from '../callbacks/support.ts';
import { JOB, openRig, type Rig } from './support.ts';

const STAMPS = { extendedKeyUsage: 'timeStamping' };

describe('A seal with a time stamp', () => {
  let keys: SealKeys;
  let judge: Signatures;
  let ada: Identity;
  let rig: Rig;
  let authority: TimestampAuthority;
  let stamp: TimestampAuthority['respond'];

  before(async () => {
    keys = await SealKeys.make();
    judge = new Signatures();
    ada = await keys.identity('Ada');
    await keys.add('ada', ada);
    rig = openRig(keys.folder, 1000);
    authority = await TimestampAuthority.start(await keys.identity('Clock', STAMPS));
    stamp = authority.respond;
  });
  after(async () => {
    judge.close();
    await rig.close();
    await authority.close();
    await keys.close();
  });
  beforeEach(() => {
    authority.queries.length = 0;
    authority.respond = stamp;
  });

  const terms = (
    timestampUrl = authority.url,
    key: { keyId?: string; digestUrl?: string } = { keyId: 'ada' },
  ) => ({
    seal: { key, timestampUrl, level: 'B-T' as const },
    job: JOB,
    deadline: Date.now() + 20_000,
    signal: new AbortController().signal,
  });
  const refusal = async (asked = terms()) => {
    const error = await rig.sealer.seal(await rig.place({ bytes: 40 * 1024 }), asked).then(
      () => assert.fail('it was sealed'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof PlatenError, String(error));
    assert.equal(error.code, 'TIMESTAMP_FAILED');
    return { message: error.message, permanent: error.permanent };
  };
  const sealed = async (asked = terms()) => {
    const pdf = await rig.place({ bytes: 40 * 1024 });
    const { level, timestamp } = (await rig.sealer.seal(pdf, asked)).facts;
    assert.deepEqual([level, timestamp?.authority], ['B-T', 'CN=Clock']);
    assert.ok(Math.abs(timestamp!.time - Date.now()) < 3_600_000);
    await opensslVerifies(pdf, keys.authority);
    const [verdict] = await judge.verdicts(pdf, keys.authority);
    const { good, coverage, stamped } = verdict!;
    assert.deepEqual({ good, coverage, stamped }, { good: true, coverage: 'ENTIRE_FILE', stamped: true });
  };

  it('has one that is valid for pyHanko, of a key of the operator and of a server of the customer', async () => {
    await sealed();
    assert.equal(authority.queries.length, 1);
    const receiver = await Receiver.start();
    receiver.respond = async (_request, response) => {
      const digest = Buffer.from(JSON.parse(receiver.received.at(-1)!.body).digest, 'base64');
      const cms = await judge.sign(digest, ada, { chain: [keys.authority] });
      response.end(JSON.stringify({ cms: cms.toString('base64') }));
    };
    await sealed(terms(undefined, { digestUrl: receiver.url() }));
    await receiver.close();
  });

  it('is asked for again while the authority is away, and then fails by a code of its own', async () => {
    authority.respond = (...asked) =>
      authority.queries.length < 3 ? asked[1].writeHead(503).end() : stamp(...asked);
    await sealed();
    authority.respond = (_query, response) => response.writeHead(500).end();
    assert.deepEqual(await refusal(), {
      message: 'The time-stamp authority of timestampUrl failed: It responded with status 500.',
      permanent: false,
    });
    authority.respond = () => undefined;
    assert.match((await refusal()).message, /no response within 1 s/);
    const gone = await refusal(terms('http://127.9.9.1:9/'));
    assert.match(gone.message, /may not be reached|connection|could not/i);
    assert.match((await refusal(terms('http://10.0.0.1/'))).message, /may not be reached/);
  });

  it('refuses what is no time stamp of the signature, or by nobody who gives them', async () => {
    const wrong = await keys.identity('Ordinary');
    const late = await keys.identity('Late', { ...STAMPS, days: 0 });
    const early = await keys.identity('Early', { ...STAMPS, begins: '20990101000000Z' });
    const other = await keys.identity('Other', STAMPS);
    /** To the same query with one byte changed: of the nonce, or of the hash. */
    const changed = (at: number) => async (query: Buffer, response: ServerResponse) => {
      query[at]! ^= 1;
      return stamp(query, response);
    };
    const made: [reason: RegExp, respond: TimestampAuthority['respond']][] = [
      [/is of something else/, changed(30)],
      [/is of another request/, changed(60)],
      [/expired on/, async (query, response) => response.end(await authority.reply(query, late))],
      [/valid from 2099-/, async (query, response) => response.end(await authority.reply(query, early))],
      [/was refused with status 2/, (_query, response) => response.end(Buffer.from('30053003020102', 'hex'))],
      [/no DER|cannot be read/, (_query, response) => response.end('<html>')],
      [
        /is not by the key|cannot be read|other content|of something else|not DER|no DER/,
        async (query, response) => {
          const bytes = await authority.reply(query, other);
          bytes[bytes.length - 5]! ^= 1;
          response.end(bytes);
        },
      ],
    ];
    for (const [reason, respond] of made) {
      authority.respond = respond;
      const { message, permanent } = await refusal();
      assert.match(message, reason);
      assert.equal(permanent, true);
    }
    // openssl does not stamp by such a certificate.
    await assert.rejects(authority.reply(authority.queries[0]!, wrong));
  });
});
