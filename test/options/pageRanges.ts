import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';

const PAGES = Array.from(
  { length: 6 },
  (_, i) => `<p style="break-after: ${i === 5 ? 'auto' : 'page'}">page-${i + 1}`,
).join('');
const EXAMPLE = /such as 1-3,5,8-/;
const text = ({ pages }: { pages: readonly { text: string }[] }) => pages.map((page) => page.text).join(' ');

export const cases: OptionCases = {
  accepted: ['1', '1-3,5,8-', '-2', '2-2', ' 1 , 3 ', `1${',1'.repeat(127)}`],
  refused: [
    [{ pageRanges: '3-1' }, 'pageRanges', EXAMPLE],
    [{ pageRanges: '0' }, 'pageRanges', EXAMPLE],
    [{ pageRanges: '0-2' }, 'pageRanges', EXAMPLE],
    [{ pageRanges: 'a' }, 'pageRanges', EXAMPLE],
    [{ pageRanges: '1,,2' }, 'pageRanges', EXAMPLE],
    [{ pageRanges: '' }, 'pageRanges', EXAMPLE],
    [{ pageRanges: '1-3,\u20285' }, 'pageRanges', EXAMPLE],
    [{ pageRanges: '1\n' }, 'pageRanges', EXAMPLE],
    [{ pageRanges: '-' }, 'pageRanges', EXAMPLE],
    [{ pageRanges: `1${',1'.repeat(128)}` }, 'pageRanges', /at most 255 characters/],
  ],
  effects: [
    {
      title: 'only the named pages are printed',
      html: PAGES,
      options: { pageRanges: '1, 3-4, 6-' },
      proof: (pdf) => assert.equal(text(pdf), 'page-1 page-3 page-4 page-6'),
    },
    {
      title: 'a range that goes past the last page is cut, and page numbers stay those of the document',
      html: PAGES,
      options: {
        pageRanges: '5-99',
        displayHeaderFooter: true,
        footerTemplate: '<p style="font-size: 9px"><b class=pageNumber></b> of <b class=totalPages></b></p>',
        margin: { bottom: '20mm' },
      },
      proof: (pdf) => assert.equal(text(pdf).replaceAll(/\s+/g, ''), 'page-55of6page-66of6'),
    },
  ],
  failures: [
    {
      title: 'ranges without any page of the document fail the render',
      html: PAGES,
      options: { pageRanges: '7-8,10-' },
      code: 'PAGE_RANGE_INVALID',
      message: /none of the pages 7-8,10-/,
    },
  ],
};
