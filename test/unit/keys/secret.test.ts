import assert from 'node:assert/strict';
import { hashSecret } from '../../../src/infra/ids/hash-secret.ts';
import { isSameHash, modeOf, newSecret, prefixOf } from '../../../src/tenants/keys/secret.ts';

describe('API key secrets', () => {
  it('name their mode, are long, and never repeat', () => {
    const secrets = Array.from({ length: 1000 }, () => newSecret('live'));
    assert.equal(new Set(secrets).size, 1000);
    for (const secret of secrets) assert.match(secret, /^sk_live_[0-9A-Za-z]{49}$/);
    assert.match(newSecret('test'), /^sk_test_/);
    assert.equal(modeOf(newSecret('test')), 'test');
  });

  it('are distinguished from other texts', () => {
    for (const wrong of [
      '',
      'sk_live_',
      'sk_live_short',
      'sk_other_0123456789012345678901234567890123',
      `sk_live_${'x'.repeat(31)} `,
    ]) {
      assert.equal(modeOf(wrong), undefined, wrong);
    }
  });

  it('are equal when their whole hashes are', () => {
    const [hash, other] = [hashSecret(newSecret('live')), hashSecret(newSecret('live'))];
    assert.ok(isSameHash(hash, hash.toUpperCase()));
    for (const wrong of [other, hash.slice(2), `${hash}00`, '', 'no hash'])
      assert.ok(!isSameHash(hash, wrong));
  });

  it('have a prefix that reveals nothing, and are stored as a hash', () => {
    const secret = newSecret('live');
    assert.equal(prefixOf(secret).length, 12);
    assert.match(hashSecret(secret), /^[0-9a-f]{64}$/);
    assert.ok(!hashSecret(secret).includes(secret.slice(8)));
  });
});
