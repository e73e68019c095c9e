import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { createAddressPolicy, machineAddresses } from '../../../src/infra/egress/address-policy.ts';
import { parseNetworks } from '../../../src/infra/egress/networks.ts';
import { isAllowedPort } from '../../../src/infra/egress/ports.ts';

const closed = createAddressPolicy();
const opening = (...networks: string[]) => createAddressPolicy({ allowedNetworks: parseNetworks(networks) });

describe('address policy: IPv4 inside IPv6', () => {
  /** what it is, how it carries 10.1.2.3, how it carries 8.8.8.8, whether the latter may be reached */
  const forms: readonly [string, string, string, boolean][] = [
    ['mapped, dotted', '::ffff:10.1.2.3', '::ffff:8.8.8.8', true],
    ['mapped, hexadecimal', '::ffff:a01:203', '::ffff:808:808', true],
    ['mapped, written out', '0:0:0:0:0:ffff:0a01:0203', '0:0:0:0:0:FFFF:0808:0808', true],
    ['NAT64', '64:ff9b::a01:203', '64:ff9b::808:808', true],
    ['NAT64, dotted', '64:ff9b::10.1.2.3', '64:ff9b::8.8.8.8', true],
    ['local-use NAT64', '64:ff9b:1::a01:203', '64:ff9b:1::808:808', false],
    ['compatible', '::10.1.2.3', '::8.8.8.8', false],
    ['translated (SIIT)', '::ffff:0:10.1.2.3', '::ffff:0:8.8.8.8', false],
    ['6to4', '2002:a01:203::1', '2002:808:808::1', false],
    ['Teredo server', '2001:0:a01:203::f7f7:f7f7', '2001:0:808:808::f7f7:f7f7', false],
    ['Teredo client', '2001:0:808:808::f5fe:fdfc', '2001:0:808:808::f7f7:f7f7', false],
    ['ISATAP', '2606:4700::5efe:10.1.2.3', '2606:4700::5efe:8.8.8.8', true],
    ['ISATAP, universal', '2606:4700::200:5efe:10.1.2.3', '2606:4700::200:5efe:8.8.8.8', true],
  ];
  for (const [name, inside, outside, reachable] of forms) {
    it(`${name}: ${inside} is blocked, ${outside} is ${reachable ? 'allowed' : 'blocked'}`, () => {
      assert.equal(closed.check(inside).allowed, false);
      assert.equal(closed.check(outside).allowed, reachable);
    });
  }

  it('names the address that is embedded', () => {
    assert.deepEqual(closed.check('64:ff9b::7f00:1'), {
      allowed: false,
      reason: 'carries 127.0.0.1: 127.0.0.0/8 (loopback, RFC 1122)',
    });
  });

  it('an open tunnel prefix does not open the addresses behind it', () => {
    const policy = opening('2002::/16', '2001::/32', '64:ff9b:1::/48', '::/96');
    for (const address of [
      '2002:a9fe:a9fe::1',
      '2001:0:7f00:1::1',
      '::127.0.0.1',
      '64:ff9b:1:7f00:0:100::',
    ]) {
      assert.equal(policy.check(address).allowed, false, address);
    }
    assert.equal(policy.check('2002:808:808::1').allowed, true);
  });

  it("reads a NAT64 address by the length of the operator's own prefix (RFC 6052)", () => {
    // 192.0.2.33 in RFC 6052's own examples is documentation space; 8.8.4.4 and 10.1.2.3 stand in for it.
    const lengths: readonly [string, string, string][] = [
      ['64:ff9b:1::/48', '64:ff9b:1:808:4:400::', '64:ff9b:1:a01:2:300::'],
      ['64:ff9b:1:aa00::/56', '64:ff9b:1:aa08:8:404::', '64:ff9b:1:aa0a:1:203::'],
      ['64:ff9b:1:aabb::/64', '64:ff9b:1:aabb:8:804:400:0', '64:ff9b:1:aabb:a:102:300:0'],
      ['64:ff9b:1::/96', '64:ff9b:1::808:404', '64:ff9b:1::a01:203'],
    ];
    for (const [prefix, good, bad] of lengths) {
      assert.deepEqual(opening(prefix).check(good), { allowed: true }, good);
      assert.match(JSON.stringify(opening(prefix).check(bad)), /carries 10\.1\.2\.3/);
    }
  });
});

describe('address policy: what operators open', () => {
  it('opens exactly the named networks, mapped and NAT64 forms with them', () => {
    const policy = opening('10.20.0.0/16', 'fd12:3456::/32', '192.168.7.9');
    for (const address of [
      '10.20.0.0',
      '10.20.255.255',
      '::ffff:10.20.1.1',
      '64:ff9b::10.20.1.1',
      'fd12:3456::1',
      '192.168.7.9',
    ]) {
      assert.deepEqual(policy.check(address), { allowed: true }, address);
    }
    for (const address of ['10.19.255.255', '10.21.0.0', 'fd12:3457::1', '192.168.7.8', '127.0.0.1', '::1']) {
      assert.equal(policy.check(address).allowed, false, address);
    }
  });

  it('opens loopback where it is named', () => {
    assert.equal(opening('::1').check('::1').allowed, true);
    assert.equal(opening('127.0.0.0/8').check('127.0.0.1').allowed, true);
  });

  it('keeps cloud metadata closed, whatever network is open, unless the address is named alone', () => {
    const wide = opening('169.254.0.0/16', 'fd00::/8', '100.64.0.0/10');
    for (const address of [
      '169.254.169.254',
      '::ffff:169.254.169.254',
      '64:ff9b::a9fe:a9fe',
      '169.254.170.2',
      'fd00:ec2::254',
      'fd20:ce::254',
      '100.100.100.200',
    ]) {
      assert.match(JSON.stringify(wide.check(address)), /cloud metadata/, address);
    }
    assert.equal(wide.check('169.254.1.1').allowed, true);
    assert.equal(opening('169.254.169.254').check('169.254.169.254').allowed, true);
  });

  it("blocks Azure's host agent, although its address is public", () => {
    assert.equal(closed.check('168.63.129.16').allowed, false);
  });

  it("blocks this machine's own addresses, public or not", () => {
    const policy = createAddressPolicy({ ownAddresses: ['8.8.4.4', '2606:4700::7'] });
    assert.deepEqual(policy.check('8.8.4.4'), { allowed: false, reason: 'an address of this machine' });
    assert.equal(policy.check('2606:4700:0::7').allowed, false);
    assert.equal(policy.check('64:ff9b::8.8.4.4').allowed, false);
    assert.equal(policy.check('8.8.8.8').allowed, true);
    assert.ok(machineAddresses().includes('127.0.0.1'));
  });
});

describe('address policy: text and ports', () => {
  for (const text of ['', 'localhost', '[::1]', '8.8.8', '0x8.8.8.8', '010.8.8.8', '134744072', ' 8.8.8.8']) {
    it(`rejects "${text}", which is not the plain form of an address`, () => {
      assert.deepEqual(closed.check(text), { allowed: false, reason: 'not an IP address' });
    });
  }

  it('rejects zone ids, even on addresses that are allowed', () => {
    assert.equal(closed.check('fe80::1%lo').allowed, false);
    assert.equal(closed.check('2606:4700::1%eth0').allowed, false);
    assert.equal(opening('fe80::/10').check('fe80::1%lo').allowed, false);
  });

  it('blocks the ports that the Fetch standard blocks, and no others', () => {
    // undici keeps the list of the standard for its own fetch.
    const { badPorts } = createRequire(import.meta.url)('undici/lib/web/fetch/constants.js') as {
      badPorts: string[];
    };
    const blocked = new Set(badPorts.map(Number));
    for (let port = 1; port <= 65_535; port += 1) {
      assert.equal(isAllowedPort(port), !blocked.has(port), `port ${port}`);
    }
    for (const port of [0, -1, 65_536, 80.5, Number.NaN]) assert.equal(isAllowedPort(port), false);
    assert.deepEqual(closed.check('8.8.8.8', 25), { allowed: false, reason: 'port 25 is not open to HTTP' });
    assert.equal(closed.check('8.8.8.8', 8443).allowed, true);
    assert.equal(opening('10.0.0.0/8').check('10.0.0.1', 6000).allowed, false);
  });
});
