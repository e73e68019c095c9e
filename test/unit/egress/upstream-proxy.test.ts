import assert from 'node:assert/strict';
import { targetOf } from '../../../src/infra/egress/host.ts';
import { directTargets } from '../../../src/infra/egress/upstream-proxy.ts';

const isDirect = (entries: string[], url: string) => directTargets(entries)(targetOf(new URL(url))!);

describe('exceptions from the proxy', () => {
  const cases: readonly (readonly [entry: string, direct: readonly string[], proxied: readonly string[]])[] =
    [
      ['*', ['http://a.example', 'http://10.0.0.1'], []],
      [
        'corp.example',
        ['http://corp.example', 'https://a.b.CORP.example:8443'],
        ['http://notcorp.example', 'http://corp.example.org', 'http://example'],
      ],
      ['.corp.example', ['http://corp.example', 'http://a.corp.example'], ['http://acorp.example']],
      ['*.corp.example', ['http://a.corp.example'], ['http://acorp.example']],
      [' Corp.Example ', ['http://corp.example'], []],
      ['corp.example:8443', ['https://corp.example:8443'], ['https://corp.example', 'http://corp.example']],
      ['corp.example:443', ['https://corp.example'], ['http://corp.example']],
      ['10.1.2.3', ['http://10.1.2.3', 'http://10.1.2.3:81'], ['http://10.1.2.4', 'http://10.1.2.3.example']],
      ['10.1.2.3:80', ['http://10.1.2.3'], ['https://10.1.2.3']],
      [
        '10.1.0.0/16',
        ['http://10.1.255.1', 'http://[::ffff:10.1.0.1]'],
        ['http://10.2.0.1', 'http://a.example'],
      ],
      ['fd00::1', ['http://[fd00::1]'], ['http://[fd00::2]']],
      ['[fd00::1]:81', ['http://[fd00::1]:81'], ['http://[fd00::1]']],
      ['fd00::/8', ['http://[fd12::1]'], ['http://[fe80::1]']],
      ['', [], ['http://a.example', 'http://10.0.0.1']],
    ];
  for (const [entry, direct, proxied] of cases) {
    it(`are, by "${entry}", ${direct.join(' ') || 'none'}, and not ${proxied.join(' ') || 'any other'}`, () => {
      for (const url of direct) assert.equal(isDirect([entry], url), true, url);
      for (const url of proxied) assert.equal(isDirect([entry], url), false, url);
    });
  }

  it('are those of every entry', () => {
    assert.equal(isDirect(['a.example', '10.0.0.0/8'], 'http://10.9.9.9'), true);
    assert.equal(isDirect([], 'http://10.9.9.9'), false);
  });

  it('are refused where a block is none', () => {
    assert.throws(() => directTargets(['10.0.0.1/8']), /bits set past its prefix/);
    assert.throws(() => directTargets(['a.example/8']), /not a network/);
  });
});
