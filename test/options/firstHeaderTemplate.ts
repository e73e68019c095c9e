import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';

const of = (text: string) =>
  `<p style="font-size: 9px; margin: 0 1cm">${text} <b class=pageNumber></b> of <b class=totalPages></b></p>`;
const PAGES = [1, 2, 3, 4]
  .map(
    (i) =>
      `<p style="break-after: ${i === 4 ? 'auto' : 'page'}">body-${i} <a href="https://example.com/">link</a>`,
  )
  .join('');
const margin = { top: '2cm', bottom: '2cm' };
const lines = ({ pages }: { readonly pages: readonly { readonly text: string }[] }) =>
  pages.map((page) => page.text.replaceAll(/\s+/g, ' '));

export const cases: OptionCases = {
  accepted: ['', 'x'.repeat(5000)],
  refused: [
    [{ firstHeaderTemplate: 'x'.repeat(5001) }, 'firstHeaderTemplate', /at most 5000 characters/],
    [
      { firstHeaderTemplate: '', pageRanges: '1' },
      'firstHeaderTemplate',
      /such as \{"firstHeaderTemplate": ""\}/,
    ],
  ],
  effects: [
    {
      title:
        'the first and last pages have their own, links and tags stay, and numbers are right in all of them',
      html: `<style>@page { @bottom-center { content: 'box' } }</style>${PAGES}`,
      options: {
        displayHeaderFooter: true,
        headerTemplate: of('Head'),
        footerTemplate: of('Foot'),
        firstHeaderTemplate: of('First'),
        lastHeaderTemplate: '',
        lastFooterTemplate: of('Last'),
        margin,
        tagged: true,
      },
      proof(pdf) {
        const text = lines(pdf);
        assert.equal(text.length, 4);
        assert.match(text[0]!, /body-1 link.*First 1 of 4/);
        assert.match(text[0]!, /Foot 1 of 4/);
        for (const i of [2, 3]) {
          assert.match(text[i - 1]!, new RegExp(`Head ${i} of 4`));
          assert.match(text[i - 1]!, new RegExp(`Foot ${i} of 4`));
        }
        assert.match(text[3]!, /Last 4 of 4/);
        assert.doesNotMatch(text[3]!, /Head|Foot|First/);
        for (const [i, page] of pdf.pages.entries()) {
          assert.deepEqual(page.links, ['https://example.com/']);
          for (const once of [/body/g, /box/g])
            assert.equal(text[i]!.match(once)?.length, 1, `${once}: ${text[i]}`);
        }
        assert.equal(pdf.tagged, true);
      },
    },
    {
      title: 'no header is printed without displayHeaderFooter',
      html: '<p>body',
      options: { firstHeaderTemplate: of('First'), lastFooterTemplate: of('Last') },
      proof: (pdf) => assert.deepEqual(lines(pdf), ['body']),
    },
    {
      title: 'a single page has the header of the first one',
      html: '<title>The title</title><p>body',
      options: {
        displayHeaderFooter: true,
        headerTemplate: of('Head'),
        firstHeaderTemplate: '<p style="font-size: 9px; margin: 0 1cm">First of <b class=title></b></p>',
        lastHeaderTemplate: of('Last'),
      },
      proof: (pdf) => assert.match(lines(pdf).join(), /^body ?First of The title$/),
    },
    {
      title: 'the margin is 1 cm where none is given',
      html: '<body style="margin: 0"><div style="height: 20px; background: red">x',
      options: { displayHeaderFooter: true, firstHeaderTemplate: of('First') },
      async proof({ draw }) {
        const { top } = (await draw()).boxOfColor([255, 0, 0])!;
        assert.ok(top > 27 && top < 30, `${top}`);
      },
    },
  ],
};
