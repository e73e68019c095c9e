import assert from 'node:assert/strict';
import { BLUE, echo, type OptionCases, RED, SITE } from './support/cases.ts';

const modes = ['html', 'template'] as const;
/** The picture of `echo`, by a relative address. */
const relative = (name: string, value: string) => echo(name, value).replace(`${SITE}/`, '');

export const cases: OptionCases = {
  accepted: [
    'http://a.example',
    'https://a.example:8443/x/y.html?z=1#f',
    `https://a.example/${'x'.repeat(2000)}`,
  ],
  refused: [
    [{ baseUrl: '/assets/' }, 'baseUrl', /must be an absolute address/],
    [{ baseUrl: '//a.example/' }, 'baseUrl', /must be an absolute address/],
    [{ baseUrl: '' }, 'baseUrl', /must be an absolute address/],
    [{ baseUrl: 'javascript:alert(1)' }, 'baseUrl', /must be an http or https address/],
    [{ baseUrl: 'data:text/html,x' }, 'baseUrl', /must be an http or https address/],
    [{ baseUrl: 'file:///etc/' }, 'baseUrl', /must be an http or https address/],
    [{ baseUrl: 'https://a:b@a.example/' }, 'baseUrl', /must not hold a user name or password/],
    [{ baseUrl: 'https://a.example/\r\nX: 1' }, 'baseUrl', /must not hold spaces, line breaks/],
    [{ baseUrl: `https://a.example/${'x'.repeat(10_000)}` }, 'baseUrl', /at most 2048 characters/],
  ],
  effects: [
    {
      title: 'relative assets and links are resolved against it, and links within the document stay',
      modes,
      html: `${relative('host', '127.0.0.1')}<p><a href="/pay/123?a=1&amp;b=2">pay</a> <a href="terms.html">terms</a>
        <a href="#end">end</a><p id=end style="break-before: page">end`,
      options: { baseUrl: `${SITE}/folder-of-nothing/../?a=1&b="2"'` },
      async proof({ pages, draw }) {
        assert.ok((await draw()).countColor(RED) > 3000);
        const [pay, terms, ...others] = pages[0]!.links;
        assert.match(pay!, /^http:\/\/127\.0\.0\.1:\d+\/pay\/123\?a=1&b=2$/);
        assert.match(terms!, /^http:\/\/127\.0\.0\.1:\d+\/terms\.html$/);
        assert.equal(others.length, 1, 'a link within the document');
        assert.doesNotMatch(others[0]!, /^http/);
      },
    },
    {
      title: 'a base of the document comes before it, and a relative one is resolved against it',
      modes,
      html: `<html lang=de><head><base href="folder/"></head><p><a href="x">x</a>`,
      options: { baseUrl: 'https://a.example/invoices/1.html' },
      proof: ({ pages }) => assert.deepEqual(pages[0]!.links, ['https://a.example/invoices/folder/x']),
    },
    {
      title: 'headers for assets are sent to its origin, which the caller has named',
      modes,
      html: relative('x-asset', 'secret'),
      options: { baseUrl: SITE, assetHeaders: { 'X-Asset': 'secret' } },
      proof: async ({ draw }) => assert.ok((await draw()).countColor(RED) > 3000),
    },
    {
      title: 'without script, in a document of frames, and without a doctype it is the base as well',
      modes,
      html: `<frameset><frame src="echo.svg?name=host&value=127"></frameset>`,
      options: { baseUrl: SITE, javascriptEnabled: false },
      others: { metadata: { title: 'T' }, delayMs: 20, report: true },
      async proof({ draw }) {
        const page = await draw();
        assert.ok(page.countColor(RED) > 3000);
        assert.equal(page.countColor(BLUE), 0);
      },
    },
    {
      title: 'numbers of pages are filled in beside a base',
      modes,
      html: '<p><a href="#b">to b: <i data-page></i></a><p style="break-before: page" id=b>b',
      options: { baseUrl: 'https://a.example/', tableOfContents: true },
      proof: ({ pages }) => assert.match(pages[0]!.text, /to b: ?2/),
    },
  ],
};
