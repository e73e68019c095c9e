import assert from 'node:assert/strict';
import {
  MAX_READ_FOR_ORIGINS,
  originsInMarkup,
  originsInTemplate,
} from '../../../src/render/chromium/job/document/written-origins.ts';

describe('the origins that a caller wrote', () => {
  for (const [html, origin] of [
    ['<img src="https://A.example/x">', 'https://a.example'],
    ['<img src=" http://a.example:80/x">', 'http://a.example'],
    ['<link href="//b.example:8080/y">', 'http://b.example:8080'],
    ['<img srcset="/x 1x, https://a.example:444/x 2x">', 'https://a.example:444'],
    ['<img data-src="https://a.example/x">', 'https://a.example'],
    ['<p style="background: url(https://a.example/x)">', 'https://a.example'],
    ['<style>@import "https://a.example/x"</style>', 'https://a.example'],
    ['<iframe srcdoc="&lt;img src=https://a.example/x>">', 'https://a.example'],
    ['<base href="https://a.example/x/">', 'https://a.example'],
    ['<img src="https://[2001:db8::1]:1/x">', 'https://[2001:db8::1]:1'],
    ['<svg><image xlink:href="https://a.example/x"/></svg>', 'https://a.example'],
    ['<script src="https://a.example/x"></script>', 'https://a.example'],
  ] as const) {
    it(`in ${html}: ${origin}`, () => assert.deepEqual([...originsInMarkup(html)], [origin]));
  }

  for (const html of [
    '<p>https://a.example/x</p>',
    '<a href="https://a.example/x">x</a>',
    '<!-- https://a.example/x -->',
    '<script>const user = {"site": "https://a.example/x"}</script>',
    '<textarea>https://a.example/x</textarea>',
    '<img alt="https://a.example/x">',
    '<p data-text="see https://a.example/x">',
    '<img src="ftp://a.example/x">',
    '<p style="background: url(https://a.example@b.example/x)">',
    `${'<p>x</p>'.repeat(MAX_READ_FOR_ORIGINS / 8)}<img src="https://a.example/x">`,
  ]) {
    it(`none in ${html.slice(-80)}`, () => assert.deepEqual([...originsInMarkup(html)], []));
  }

  it('in a template: wherever its source names one as a whole', () => {
    const source = `{% assign cdn = "https://a.example" %}<img src="{{ cdn }}/x"><img src='http://b.example:81/{{ x }}'>
      <script>fetch('https://c.example?x={{ x }}')</script>
      <img src="https://{{ host }}/x"><img src="https://d.example{{ port }}/x"><img src="https://{{ x }}.e.example/x">`;
    assert.deepEqual(
      [...originsInTemplate(source)],
      ['https://a.example', 'http://b.example:81', 'https://c.example'],
    );
  });

  it('no more than a thousand', () => {
    const many = Array.from({ length: 1500 }, (_, n) => `https://a${n}.example/`).join(' ');
    assert.equal(originsInTemplate(many).size, 1000);
  });
});
