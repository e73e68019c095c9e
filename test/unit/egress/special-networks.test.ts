import assert from 'node:assert/strict';
import ipaddr from 'ipaddr.js';
import { createAddressPolicy } from '../../../src/infra/egress/address-policy.ts';

const policy = createAddressPolicy();

/**
 * block, first address, last address, then the nearest addresses outside it that are public. Where a neighbour is
 * special too it is left out. The blocks are spelled out here a second time, so that a slip in the source shows.
 */
const IPV4: readonly (readonly [string, string, string, ...string[]])[] = [
  ['0.0.0.0/8', '0.0.0.0', '0.255.255.255', '1.0.0.0'],
  ['10.0.0.0/8', '10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
  ['100.64.0.0/10', '100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
  ['127.0.0.0/8', '127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
  ['169.254.0.0/16', '169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
  ['172.16.0.0/12', '172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
  ['192.0.0.0/29', '192.0.0.0', '192.0.0.7', '191.255.255.255'],
  ['192.0.0.8/32', '192.0.0.8', '192.0.0.8'],
  ['192.0.0.9/32', '192.0.0.9', '192.0.0.9'],
  ['192.0.0.10/32', '192.0.0.10', '192.0.0.10'],
  ['192.0.0.170/32', '192.0.0.170', '192.0.0.170'],
  ['192.0.0.171/32', '192.0.0.171', '192.0.0.171'],
  ['192.0.0.0/24', '192.0.0.0', '192.0.0.255', '192.0.1.0'],
  ['192.0.2.0/24', '192.0.2.0', '192.0.2.255', '192.0.1.255', '192.0.3.0'],
  ['192.31.196.0/24', '192.31.196.0', '192.31.196.255', '192.31.195.255', '192.31.197.0'],
  ['192.52.193.0/24', '192.52.193.0', '192.52.193.255', '192.52.192.255', '192.52.194.0'],
  ['192.88.99.2/32', '192.88.99.2', '192.88.99.2'],
  ['192.88.99.0/24', '192.88.99.0', '192.88.99.255', '192.88.98.255', '192.88.100.0'],
  ['192.168.0.0/16', '192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
  ['192.175.48.0/24', '192.175.48.0', '192.175.48.255', '192.175.47.255', '192.175.49.0'],
  ['198.18.0.0/15', '198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
  ['198.51.100.0/24', '198.51.100.0', '198.51.100.255', '198.51.99.255', '198.51.101.0'],
  ['203.0.113.0/24', '203.0.113.0', '203.0.113.255', '203.0.112.255', '203.0.114.0'],
  ['224.0.0.0/4', '224.0.0.0', '239.255.255.255', '223.255.255.255'],
  ['240.0.0.0/4', '240.0.0.0', '255.255.255.254'],
  ['255.255.255.255/32', '255.255.255.255', '255.255.255.255'],
];

const IPV6: readonly (readonly [string, string, string, ...string[]])[] = [
  ['::/128', '::', '::'],
  ['::1/128', '::1', '::1'],
  ['::/96', '::2', '::ffff:ffff'],
  ['64:ff9b:1::/48', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
  ['100::/64', '100::', '100::ffff:ffff:ffff:ffff'],
  ['100:0:0:1::/64', '100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff'],
  ['2001::/32', '2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff', '2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:1::1/128', '2001:1::1', '2001:1::1'],
  ['2001:1::2/128', '2001:1::2', '2001:1::2'],
  ['2001:1::3/128', '2001:1::3', '2001:1::3'],
  ['2001:2::/48', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff'],
  ['2001:3::/32', '2001:3::', '2001:3:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:4:112::/48', '2001:4:112::', '2001:4:112:ffff:ffff:ffff:ffff:ffff'],
  ['2001:10::/28', '2001:10::', '2001:1f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:20::/28', '2001:20::', '2001:2f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:30::/28', '2001:30::', '2001:3f:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001::/23', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:200::'],
  ['2001:db8::/32', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', '2001:db7:ffff::', '2001:db9::'],
  ['2002::/16', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '2001:ffff::', '2003::'],
  [
    '2620:4f:8000::/48',
    '2620:4f:8000::',
    '2620:4f:8000:ffff:ffff:ffff:ffff:ffff',
    '2620:4f:7fff:ffff::',
    '2620:4f:8001::',
  ],
  ['3fff::/20', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', '3ffe:ffff::', '3fff:1000::'],
  ['5f00::/16', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fc00::/7', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fe80::/10', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fec0::/10', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['ff00::/8', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
];

/** Unicast space that IANA has never assigned, so that no registry row is needed to refuse it. */
const NEVER_ASSIGNED = [
  '64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff',
  '64:ff9b:0:1::',
  '64:ff9b:2::',
  '::ffff:0:808:808',
  '200::',
  '400::',
  '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  '4000::',
  '8000::',
  'e000::',
  'fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  'fe00::',
];

const PUBLIC = ['1.1.1.1', '8.8.8.8', '93.184.216.34', '2606:4700:4700::1111', '2a00:1450:4001:81b::200e'];

describe('special-purpose networks', () => {
  for (const [block, first, last, ...outside] of [...IPV4, ...IPV6]) {
    it(`blocks ${block} from its first address to its last, and no further`, () => {
      assert.deepEqual(ipaddr.parse(first).kind(), ipaddr.parse(last).kind());
      assert.equal(policy.check(first).allowed, false, first);
      assert.equal(policy.check(last).allowed, false, last);
      for (const address of outside) assert.deepEqual(policy.check(address), { allowed: true }, address);
    });
  }

  it('names the block and its RFC', () => {
    assert.deepEqual(policy.check('100.64.3.4'), {
      allowed: false,
      reason: '100.64.0.0/10 (shared address space, RFC 6598)',
    });
    assert.deepEqual(policy.check('192.0.0.9'), {
      allowed: false,
      reason: '192.0.0.9/32 (port control protocol anycast, RFC 7723)',
    });
  });

  for (const address of NEVER_ASSIGNED) {
    it(`blocks ${address}, which is outside global unicast`, () => {
      assert.equal(policy.check(address).allowed, false);
    });
  }

  for (const address of PUBLIC) {
    it(`lets ${address} through`, () => assert.deepEqual(policy.check(address), { allowed: true }));
  }
});
