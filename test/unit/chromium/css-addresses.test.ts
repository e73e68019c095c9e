import assert from 'node:assert/strict';
import { replaceAddresses } from '../../../src/render/chromium/job/margins/css-addresses.ts';

const replaced = (css: string) => replaceAddresses(css, async (address, kind) => `data:${kind},${address}`);

describe('the addresses in a style sheet', () => {
  for (const [css, expected] of [
    ['a { background: url(x.png) }', 'a { background: url("data:image,x.png") }'],
    [`a { background: URL( 'x y.png' ) }`, 'a { background: url("data:image,x y.png") }'],
    ['a { background: u\\72l(x) }', 'a { background: url("data:image,x") }'],
    ['a { background: url("a\\"b\\29 c") }', 'a { background: url("data:image,a%22b)c") }'],
    ['@import "a.css" print;', '@import url("data:stylesheet,a.css") print;'],
    ['@IMPORT/**/url(a.css);', '@import url("data:stylesheet,a.css");'],
    ["@\\69\\6d port 'a.css';", '@import url("data:stylesheet,a.css");'],
    ['@import a.css;', '@unread a.css;'],
    ['@import url(a b);', '@unread unread(a b);'],
    [
      '@font-face { src: local(x), url(a.woff2) format("woff2") } a { background: url(b) }',
      '@font-face { src: local(x), url("data:font,a.woff2") format("woff2") } a { background: url("data:image,b") }',
    ],
    ['@media print { @font-face{src:url(a)} }', '@media print { @font-face{src:url("data:font,a")} }'],
    [
      'a { fill: url(#g); background: url(data:image/png,x) }',
      'a { fill: url("#g"); background: url("data:image/png,x") }',
    ],
    ['a::after { content: "url(x) /* y */ @import" }', 'a::after { content: "url(x) /* y */ @import" }'],
    ['/* url(x) */a{}', ' a{}'],
    ['a { background: url("http://a.example/x', 'a { background: unread("http://a.example/x'],
    ['"\f@import "x";', '"\n@import url("data:stylesheet,x");'],
    ['@namespace svg url(http://www.w3.org/2000/svg);', '@namespace svg url(http://www.w3.org/2000/svg);'],
    ['.\\31 a { color: red }', '.\\31 a { color: red }'],
  ] as const)
    it(`are replaced, and nothing else is: ${css}`, async () => assert.equal(await replaced(css), expected));

  it('are removed where there is nothing in their place', async () =>
    assert.equal(
      await replaceAddresses('@import "x"; a { b: url(x) }', async () => undefined),
      '@import url("data:,"); a { b: url("data:,") }',
    ));

  for (const part of [
    'url(',
    'url( ',
    '"',
    '"\\"',
    `'\n`,
    '/*',
    '@import ',
    '@font-face',
    '{',
    '\\',
    '\\69',
    'url(\\',
    '@import url( ',
  ])
    it(`are found in linear time: ${JSON.stringify(part)}`, async () => {
      await replaceAddresses(part.repeat(200_000), async () => undefined);
    });
});
