import assert from 'node:assert/strict';
import type { OptionCases } from './cases.ts';

const ALL = '<p style="font-size: 9px; margin: 0 1cm">all</p>';
const OWN =
  '<p style="font-size: 9px; margin: 0 1cm">own <b class=pageNumber></b> of <b class=totalPages></b></p>';

/**
 * The cases of a header or footer for one page of a document.
 *
 * @param usual the option for all other pages.
 * @param printed what each of three pages shows, without white space.
 */
export function ownTemplateCases(
  option: 'firstFooterTemplate' | 'lastHeaderTemplate' | 'lastFooterTemplate',
  usual: 'headerTemplate' | 'footerTemplate',
  printed: readonly string[],
): OptionCases {
  return {
    accepted: ['', 'x'.repeat(5000)],
    refused: [
      [{ [option]: 'x'.repeat(5001) }, option, /at most 5000 characters/],
      [{ [option]: '', pageRanges: '1' }, option, new RegExp(`such as \\{"${option}": ""\\}`)],
    ],
    effects: [
      {
        title: 'one page has its own, all others the usual one',
        html: '<p style="break-after: page">1<p style="break-after: page">2<p>3',
        options: { displayHeaderFooter: true, [usual]: ALL, [option]: OWN },
        proof: ({ pages }) =>
          assert.deepEqual(
            pages.map((page) => page.text.replaceAll(/\s+/g, '')),
            printed,
          ),
      },
    ],
  };
}
