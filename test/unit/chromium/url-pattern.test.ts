import assert from 'node:assert/strict';
import { asFetchPattern, matchesPattern } from '../../../src/render/chromium/page/url-pattern.ts';

describe('a pattern of addresses', () => {
  const cases: [pattern: string, matching: string[], others: string[]][] = [
    ['https://a.example/', ['https://a.example/'], ['https://a.example/x', 'http://a.example/']],
    ['*', ['', 'https://a.example/'], []],
    ['*.css', ['https://a.example/x.css'], ['https://a.example/x.css?1', 'css']],
    [
      'https://*.example/*',
      ['https://a.example/', 'https://b.a.example/x'],
      ['https://example/', 'http://a.example/'],
    ],
    ['*ab*ba*', ['abba', 'xabxbax'], ['aba', 'baab']],
    ['a*a', ['aa', 'aba'], ['a', 'ab']],
    ['*?x=1*', ['https://a.example/?x=1&y=2'], ['https://a.example/-x=1']],
  ];
  for (const [pattern, matching, others] of cases) {
    it(`${pattern} stands for any characters where it has an asterisk, and for itself elsewhere`, () => {
      for (const url of matching) assert.equal(matchesPattern(url, pattern), true, url);
      for (const url of others) assert.equal(matchesPattern(url, pattern), false, url);
    });
  }

  it('is passed to Chromium with the characters that are special to Chromium alone escaped', () => {
    assert.equal(asFetchPattern('*/a?b\\c'), '*/a\\?b\\\\c');
  });
});
