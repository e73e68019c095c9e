import assert from 'node:assert/strict';
import { parseAuthority, parseHost, targetOf } from '../../../src/infra/egress/host.ts';

describe('hosts', () => {
  const addresses: readonly [string, string][] = [
    ['127.0.0.1', '127.0.0.1'],
    ['2130706433', '127.0.0.1'],
    ['0x7f000001', '127.0.0.1'],
    ['017700000001', '127.0.0.1'],
    ['127.1', '127.0.0.1'],
    ['0x7f.0x1', '127.0.0.1'],
    ['127.0.0.1.', '127.0.0.1'],
    ['0', '0.0.0.0'],
    ['[::1]', '::1'],
    ['::1', '::1'],
    ['[0:0::0:1]', '::1'],
    ['[::ffff:127.0.0.1]', '::ffff:7f00:1'],
  ];
  for (const [text, address] of addresses) {
    it(`${text} is the address ${address}`, () => {
      assert.deepEqual(parseHost(text), { kind: 'address', text: address });
    });
  }

  it('names come out in lower case ASCII without the final dot', () => {
    assert.deepEqual(parseHost('Example.COM.'), { kind: 'name', text: 'example.com' });
    assert.deepEqual(parseHost('bücher.example'), { kind: 'name', text: 'xn--bcher-kva.example' });
    assert.deepEqual(parseHost('a_b.example'), { kind: 'name', text: 'a_b.example' });
  });

  for (const text of [
    '',
    '.',
    'a b',
    'a/b',
    'a\\b',
    'a?b',
    'a#b',
    'user@host',
    '%31.example',
    'fe80::1%lo',
    '[fe80::1%25lo]',
    'host:80',
    'host:',
    '[::1]:80',
    '1.2.3.4.5',
    '256.256.256.256',
    '1.2.3.08',
    'x'.repeat(254),
  ]) {
    it(`"${text.slice(0, 20)}" is no host`, () => assert.equal(parseHost(text), undefined));
  }

  it('CONNECT targets are host:port', () => {
    assert.deepEqual(parseAuthority('0x7f.1:443'), {
      host: { kind: 'address', text: '127.0.0.1' },
      port: 443,
    });
    assert.deepEqual(parseAuthority('[::1]:80'), { host: { kind: 'address', text: '::1' }, port: 80 });
    for (const text of [
      'host',
      'host:',
      ':80',
      'host:80a',
      'host:123456',
      'a@host:80',
      'host/x:80',
      'http://host:80',
    ]) {
      assert.equal(parseAuthority(text), undefined, text);
    }
  });

  it('URLs name their port or imply it', () => {
    const port = (url: string) => targetOf(new URL(url))?.port;
    assert.deepEqual(
      [port('http://a/'), port('https://a/'), port('ws://a/'), port('wss://a/'), port('http://a:8080/')],
      [80, 443, 80, 443, 8080],
    );
  });
});
