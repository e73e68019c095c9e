import assert from 'node:assert/strict';
import { normaliseAllowedIp } from '../../../src/tenants/keys/allowed-ips.ts';

describe('An entry of an allow-list', () => {
  for (const [entry, written] of [
    ['203.0.113.7', '203.0.113.7'],
    [' 203.0.113.7 ', '203.0.113.7'],
    ['203.0.113.77/24', '203.0.113.0/24'],
    ['203.0.113.7/32', '203.0.113.7/32'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8:0:0::7', '2001:db8::7'],
    ['2001:db8:7::1/48', '2001:db8:7::/48'],
    ['::/0', '::/0'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7/120', '203.0.113.0/24'],
  ] as const) {
    it(`${entry} is normalised to ${written}`, () => assert.equal(normaliseAllowedIp(entry), written));
  }

  for (const entry of [
    '',
    'localhost',
    '203.0.113',
    '203.0.113.256',
    '0x7f.0.0.1',
    '2130706433',
    '203.0.113.7/33',
    '203.0.113.7/-1',
    '203.0.113.7/',
    '203.0.113.7/24/8',
    '203.0.113.7/ 24',
    '2001:db8::/129',
    'fe80::1%eth0',
    '::ffff:0:0/64',
  ]) {
    it(`cannot be "${entry}"`, () => assert.equal(normaliseAllowedIp(entry), undefined));
  }
});
