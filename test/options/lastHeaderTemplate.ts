import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';

const ALL = '<p style="font-size: 9px; margin: 0 1cm">all</p>';
const OWN =
  '<p style="font-size: 9px; margin: 0 1cm">own <b class=pageNumber></b> of <b class=totalPages></b></p>';

export const cases: OptionCases = {
  accepted: ['', 'x'.repeat(5000)],
  refused: [
    [{ lastHeaderTemplate: 'x'.repeat(5001) }, 'lastHeaderTemplate', /at most 5000 characters/],
    [
      { lastHeaderTemplate: '', pageRanges: '1' },
      'lastHeaderTemplate',
      /such as \{"lastHeaderTemplate": ""\}/,
    ],
  ],
  effects: [
    {
      title: 'the last page has this header, all others the usual one',
      html: '<p style="break-after: page">1<p style="break-after: page">2<p>3',
      options: { displayHeaderFooter: true, headerTemplate: ALL, lastHeaderTemplate: OWN },
      proof: ({ pages }) =>
        assert.deepEqual(
          pages.map((page) => page.text.replaceAll(/\s+/g, '')),
          ['1all', '2all', '3own3of3'],
        ),
    },
  ],
};
