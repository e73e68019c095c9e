import assert from 'node:assert/strict';
import { base32, codeOf, matchingStep, otpauthUri, stepAt } from '../../../src/tenants/members/totp.ts';

const SECRET = Buffer.from('12345678901234567890');

describe('Codes of authenticator apps', () => {
  it('are those of RFC 6238, appendix B, by their last six digits', () => {
    for (const [seconds, code] of [
      [59, '287082'],
      [1_111_111_109, '081804'],
      [1_111_111_111, '050471'],
      [1_234_567_890, '005924'],
      [2_000_000_000, '279037'],
      [20_000_000_000, '353130'],
    ] as const)
      assert.equal(codeOf(SECRET, stepAt(new Date(seconds * 1000))), code);
  });

  it('are those of RFC 4226, appendix D, by the counter', () => {
    const codes = ['755224', '287082', '359152', '969429', '338314', '254676', '287922', '162583', '399871'];
    for (const [counter, code] of codes.entries()) assert.equal(codeOf(SECRET, counter), code);
  });

  it('are accepted one step early or late, and in no other form', () => {
    const at = new Date(1_700_000_000_000);
    const now = stepAt(at);
    const accepted = [-2, -1, 0, 1, 2].map((by) => matchingStep(SECRET, codeOf(SECRET, now + by), at));
    assert.deepEqual(accepted, [undefined, now - 1, now, now + 1, undefined]);
    for (const code of ['', '1', '1234567', 'abcdef', '١٢٣٤٥٦'])
      assert.equal(matchingStep(SECRET, code, at), undefined);
  });

  it('have secrets in base32 (RFC 4648, section 10), and as an address that apps read', () => {
    const vectors = {
      f: 'MY',
      fo: 'MZXQ',
      foo: 'MZXW6',
      foob: 'MZXW6YQ',
      fooba: 'MZXW6YTB',
      foobar: 'MZXW6YTBOI',
    };
    for (const [text, encoded] of Object.entries(vectors)) assert.equal(base32(Buffer.from(text)), encoded);
    const uri = new URL(otpauthUri(SECRET, 'a+b@example.com', 'Platen'));
    assert.equal(uri.searchParams.get('secret'), 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
    assert.ok(decodeURIComponent(uri.href).startsWith('otpauth://totp/Platen:a+b@example.com?'));
  });
});
