import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { PlatenSignatureError, verifyCallback } from '../../../clients/typescript/src/index.ts';
import { signatures } from '../../../src/work/callbacks/signature.ts';

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

describe('verifyCallback of the TypeScript client', () => {
  const [secret, newer] = [newSecret(), newSecret()];
  const body = '{"event":"render.failed","jobId":"ä","status":"failed","error":{"code":"X","message":"x"}}';
  let now: number;
  beforeEach(() => {
    now = Math.floor(Date.now() / 1000);
  });
  const signed = (timestamp = now, secrets = [secret], prefix = 'X-Service-') => ({
    [`${prefix}Delivery-Id`]: 'some-id',
    [`${prefix}Timestamp`]: String(timestamp),
    [`${prefix}Signature-V2`]: signatures(secrets, { deliveryId: 'some-id', timestamp, body }),
  });

  it('returns what the service has signed, from text and bytes and headers of any kind', () => {
    const lower = Object.fromEntries(
      Object.entries(signed()).map(([name, value]) => [name.toLowerCase(), value]),
    );
    for (const headers of [signed(), lower, new Headers(signed())])
      for (const received of [body, Buffer.from(body), new TextEncoder().encode(body)]) {
        const { deliveryId, event, jobId, error } = verifyCallback(received, headers, secret);
        assert.deepEqual([deliveryId, event, jobId, error?.code], ['some-id', 'render.failed', 'ä', 'X']);
      }
    assert.equal(verifyCallback(body, signed(now, [newer, secret]), secret).jobId, 'ä', 'while keys change');
    assert.equal(verifyCallback(body, signed(), [newer, secret]).jobId, 'ä');
    const own = signed(now, [secret], 'X-Pdf-');
    assert.equal(verifyCallback(body, own, secret, { headerPrefix: 'X-Pdf-' }).jobId, 'ä');
    const old = signed(now - 400);
    assert.equal(verifyCallback(body, old, secret, { toleranceMs: 500_000 }).jobId, 'ä');
  });

  it('rejects everything else', () => {
    for (const [received, headers, key, why] of [
      [body, signed(), newer, 'another key'],
      [`${body} `, signed(), secret, 'another body'],
      [body, signed(now - 400), secret, 'too old'],
      [body, signed(now + 400), secret, 'from the future'],
      [body, { ...signed(), 'X-Service-Delivery-Id': 'other-id' }, secret, 'another delivery'],
      [body, { ...signed(), 'X-Service-Timestamp': '1e9' }, secret, 'no time'],
      [body, {}, secret, 'unsigned'],
    ] as const)
      assert.throws(() => verifyCallback(received, headers, key), PlatenSignatureError, why);
    for (const none of ['', 'whsec_', 'secret', 'whsec_*', []])
      assert.throws(() => verifyCallback(body, signed(), none), TypeError);
  });
});
