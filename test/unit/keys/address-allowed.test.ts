import assert from 'node:assert/strict';
import { isAddressAllowed } from '../../../src/tenants/keys/allowed-ips.ts';

describe('isAddressAllowed', () => {
  const cases: readonly [allowed: string[], address: string | undefined, expected: boolean][] = [
    [[], '203.0.113.7', true],
    [[], undefined, true],
    [['203.0.113.7'], '203.0.113.7', true],
    [['203.0.113.7'], '203.0.113.8', false],
    [['203.0.113.7'], '::ffff:203.0.113.7', true],
    [['203.0.113.0/24'], '::ffff:203.0.113.200', true],
    [['203.0.113.0/24'], '203.0.114.1', false],
    [['::ffff:203.0.113.7'], '203.0.113.7', true],
    [['::ffff:203.0.113.0/120'], '203.0.113.9', true],
    [['::ffff:203.0.113.0/120'], '203.0.114.9', false],
    [['2001:db8::/32'], '2001:db8:1::1', true],
    [['2001:db8::/32'], '2001:db9::1', false],
    [['2001:db8::1'], '2001:DB8:0:0::1', true],
    [['0.0.0.0/0'], '2001:db8::1', false],
    [['::/0'], '203.0.113.7', false],
    [['198.51.100.1', '2001:db8::/32'], '2001:db8::7', true],
    [['fe80::1'], 'fe80::1%eth0', true],
    [['not an address'], '203.0.113.7', false],
    [['203.0.113.0/99'], '203.0.113.7', false],
    [['203.0.113.7'], undefined, false],
    [['203.0.113.7'], 'unknown', false],
  ];
  for (const [allowed, address, expected] of cases) {
    it(`${expected ? 'allows' : 'rejects'} ${address} with [${allowed.join(', ')}]`, () => {
      assert.equal(isAddressAllowed(allowed, address), expected);
    });
  }
});
