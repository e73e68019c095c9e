import assert from 'node:assert/strict';
import { NetworkSyntaxError, parseNetworks } from '../../../src/infra/egress/networks.ts';

describe('networks that operators name', () => {
  it('takes blocks and single addresses of both families', () => {
    const networks = parseNetworks(['10.0.0.0/8', ' 192.168.1.5 ', 'fd00::/8', '::1', 'FD00:0:0::/48']);
    assert.deepEqual(
      networks.map(({ text }) => text),
      ['10.0.0.0/8', '192.168.1.5/32', 'fd00::/8', '::1/128', 'fd00::/48'],
    );
    assert.deepEqual(parseNetworks([]), []);
  });

  const faulty: readonly [string, RegExp][] = [
    ['example.com', /is not a network: write an address and a prefix length/],
    ['', /is not a network/],
    ['10.0.0.0/8/8', /is not a network/],
    ['10.0.0/8', /is not a network/],
    ['0x0a.0.0.0/8', /is not a network/],
    ['fe80::1%eth0/64', /is not a network/],
    ['10.0.0.0/', /prefix length that is not a number/],
    ['10.0.0.0/-1', /prefix length that is not a number/],
    ['10.0.0.0/8x', /prefix length that is not a number/],
    ['10.0.0.0/255.0.0.0', /prefix length that is not a number/],
    ['10.0.0.0/33', /prefix length over 32/],
    ['fd00::/129', /prefix length over 128/],
    ['0.0.0.0/0', /is every address there is/],
    ['::/0', /is every address there is/],
    ['::ffff:10.0.0.0/104', /write it as IPv4/],
    ['10.0.0.1/8', /has bits set past its prefix: write 10\.0\.0\.0\/8/],
    ['fd00::1/64', /has bits set past its prefix: write fd00::\/64/],
  ];
  for (const [text, message] of faulty) {
    it(`rejects "${text}" with a reason`, () => {
      assert.throws(
        () => parseNetworks([text]),
        (error) => {
          assert.ok(error instanceof NetworkSyntaxError);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }

  it('names every wrong entry at once', () => {
    assert.throws(
      () => parseNetworks(['10.0.0.0/8', 'nonsense', '0.0.0.0/0']),
      (error) => {
        assert.ok(error instanceof NetworkSyntaxError);
        assert.equal(error.problems.length, 2);
        return true;
      },
    );
  });
});
