import assert from 'node:assert/strict';
import { maskAddress } from '../../../src/tenants/usage/mask-address.ts';

const MASKED: Record<string, string> = {
  '203.0.113.77': '203.0.113.0',
  '255.255.255.255': '255.255.255.0',
  '::ffff:203.0.113.77': '203.0.113.0',
  '2001:db8:1:2:3:4:5:6': '2001:db8:1::',
  '2001:db8::1': '2001:db8::',
  'fe80::1%eth0': 'fe80::',
  '::1': '::',
  '': '',
  'not an address': '',
};

describe('Masked addresses', () => {
  for (const [address, masked] of Object.entries(MASKED)) {
    it(`${address || 'nothing'} → ${masked || 'nothing'}`, () => assert.equal(maskAddress(address), masked));
  }
});
