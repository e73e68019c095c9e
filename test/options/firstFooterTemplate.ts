import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';

const ALL = '<p style="font-size: 9px; margin: 0 1cm">all</p>';
const OWN =
  '<p style="font-size: 9px; margin: 0 1cm">own <b class=pageNumber></b> of <b class=totalPages></b></p>';

export const cases: OptionCases = {
  accepted: ['', 'x'.repeat(5000)],
  refused: [
    [{ firstFooterTemplate: 'x'.repeat(5001) }, 'firstFooterTemplate', /at most 5000 characters/],
    [
      { firstFooterTemplate: '', pageRanges: '1' },
      'firstFooterTemplate',
      /such as \{"firstFooterTemplate": ""\}/,
    ],
  ],
  effects: [
    {
      title: 'the first page has this footer, all others the usual one',
      html: '<p style="break-after: page">1<p style="break-after: page">2<p>3',
      options: { displayHeaderFooter: true, footerTemplate: ALL, firstFooterTemplate: OWN },
      proof: ({ pages }) =>
        assert.deepEqual(
          pages.map((page) => page.text.replaceAll(/\s+/g, '')),
          ['1own1of3', '2all', '3all'],
        ),
    },
  ],
};
