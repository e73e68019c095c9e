import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';

const ALL = '<p style="font-size: 9px; margin: 0 1cm">all</p>';
const OWN =
  '<p style="font-size: 9px; margin: 0 1cm">own <b class=pageNumber></b> of <b class=totalPages></b></p>';

export const cases: OptionCases = {
  accepted: ['', 'x'.repeat(5000)],
  refused: [
    [{ lastFooterTemplate: 'x'.repeat(5001) }, 'lastFooterTemplate', /at most 5000 characters/],
    [
      { lastFooterTemplate: '', pageRanges: '1' },
      'lastFooterTemplate',
      /such as \{"lastFooterTemplate": ""\}/,
    ],
  ],
  effects: [
    {
      title: 'the last page has this footer, all others the usual one',
      html: '<p style="break-after: page">1<p style="break-after: page">2<p>3',
      options: { displayHeaderFooter: true, footerTemplate: ALL, lastFooterTemplate: OWN },
      proof: ({ pages }) =>
        assert.deepEqual(
          pages.map((page) => page.text.replaceAll(/\s+/g, '')),
          ['1all', '2all', '3own3of3'],
        ),
    },
  ],
};
