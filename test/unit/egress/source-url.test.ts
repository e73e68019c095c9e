import assert from 'node:assert/strict';
import { createAddressPolicy } from '../../../src/infra/egress/address-policy.ts';
import { parseNetworks } from '../../../src/infra/egress/networks.ts';
import { checkSourceUrl, MAX_URL_LENGTH } from '../../../src/infra/egress/source-url.ts';
import { type ErrorCode, PlatenError } from '../../../src/infra/errors/registry.ts';

const policy = createAddressPolicy();

function rejects(url: string, code: ErrorCode, message?: RegExp): void {
  it(`rejects ${url.length > 80 ? `${url.slice(0, 40)}… (${url.length} characters)` : url} as ${code}`, () => {
    assert.throws(
      () => checkSourceUrl(url, policy),
      (error) => {
        assert.ok(error instanceof PlatenError);
        assert.equal(error.code, code);
        if (message) assert.match(error.message, message);
        return true;
      },
    );
  });
}

describe('source URLs', () => {
  for (const url of [
    'http://example.com/',
    'https://example.com:8443/a?b=c#d',
    'HTTPS://EXAMPLE.COM',
    'http://8.8.8.8/',
    'http://[2606:4700::1111]/',
    'http://bücher.example/',
    'http://127.0.0.1.example.com/',
    'http://localhost.example.com/',
  ]) {
    it(`accepts ${url}`, () => assert.equal(checkSourceUrl(url, policy).href, new URL(url).href));
  }

  it('accepts the longest URL and not one character more', () => {
    const longest = 'http://example.com/'.padEnd(MAX_URL_LENGTH, 'a');
    assert.equal(checkSourceUrl(longest, policy).href.length, MAX_URL_LENGTH);
  });
  rejects('http://example.com/'.padEnd(MAX_URL_LENGTH + 1, 'a'), 'INVALID_URL', /longer than 8192/);

  for (const url of [
    '',
    'example.com',
    '//example.com/',
    'file:///etc/passwd',
    'ftp://example.com/',
    'data:text/html,hello',
    'javascript:alert(1)',
    'chrome://version',
    'about:blank',
    'view-source:http://example.com/',
    'blob:http://example.com/1',
    'ws://example.com/',
    'http://',
    'http://exa mple.com/',
    'http://example.com:99999/',
    'http://[fe80::1%25eth0]/',
    'http://1.2.3.4.5/',
    'http://0x100000000/',
    `http://${'a'.repeat(254)}/`,
  ]) {
    rejects(url, 'INVALID_URL');
  }
  rejects('http://user:secret@example.com/', 'INVALID_URL', /options\.assetHeaders/);
  rejects('http://user@example.com/', 'INVALID_URL');

  for (const url of [
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://017700000001/',
    'http://0x7f000001/',
    'http://0x7f.0.0.1/',
    'http://0177.0.0.01/',
    'http://127.1/',
    'http://127.0.1/',
    'http://127.0.0.1./',
    'http://１２７.０.０.１/',
    'http://127。0。0。1/',
    'http://%31%32%37.0.0.1/',
    'http://0/',
    'http://0.0.0.0/',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://a.b.localhost:8080/',
    'http://[::]/',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::127.0.0.1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[64:ff9b:1::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[fe80::1]/',
    'http://[fd00::1]/',
    'http://[ff02::1]/',
    'http://10.0.0.1/',
    'http://100.64.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://2852039166/latest/meta-data/',
    'http://0xA9FEA9FE/latest/meta-data/',
    'http://0251.0376.0251.0376/latest/meta-data/',
    'http://[::ffff:a9fe:a9fe]/latest/meta-data/',
    'http://224.0.0.1/',
    'http://255.255.255.255/',
    'http://example.com:25/',
    'https://example.com:6667/',
  ]) {
    rejects(url, 'URL_BLOCKED');
  }

  it('accepts a private address that the operator has opened', () => {
    const open = createAddressPolicy({ allowedNetworks: parseNetworks(['127.0.0.0/8', '10.0.0.0/8']) });
    for (const url of ['http://localhost:3000/', 'http://10.1.2.3/', 'http://0x7f000001/']) {
      assert.equal(checkSourceUrl(url, open).href, new URL(url).href);
    }
  });
});
