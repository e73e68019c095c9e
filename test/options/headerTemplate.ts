import assert from 'node:assert/strict';
import { echo, type OptionCases, RED } from './support/cases.ts';

export const cases: OptionCases = {
  accepted: ['', 'x'.repeat(5000)],
  refused: [[{ headerTemplate: 'x'.repeat(5001) }, 'headerTemplate', /at most 5000 characters/]],
  effects: [
    {
      title: 'pictures by their address are printed in headers',
      html: '<p>x',
      options: {
        displayHeaderFooter: true,
        headerTemplate: echo('host', '127.0.0.1'),
        margin: { top: '5cm' },
      },
      proof: async ({ draw }) => assert.ok((await draw()).countColor(RED) > 3000),
    },
    {
      title:
        'header and footer are printed on every page, with title and page numbers, in room made for them',
      html: '<title>Doc title</title><style>body { margin: 0 } p { background: blue }</style><p style="margin: 0">one<p style="break-before: page">two',
      options: {
        displayHeaderFooter: true,
        headerTemplate: '<b style="font-size: 10px" class=title></b>',
        footerTemplate:
          '<p style="font-size: 10px">page <b class=pageNumber></b> of <b class=totalPages></b></p>',
      },
      async proof({ pages, draw }) {
        assert.equal(pages.length, 2);
        for (const [i, page] of pages.entries()) {
          assert.match(page.text, /Doc title/);
          assert.match(page.text.replaceAll(/\s+/g, ' '), new RegExp(`page ${i + 1} of 2`));
        }
        const { top } = (await draw()).boxOfColor([0, 0, 255])!;
        assert.ok(top > 27 && top < 30, `${top}`);
      },
    },
  ],
};
