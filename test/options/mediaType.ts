import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';

const DOCUMENT =
  '<style>@media print { i { display: none } } @media screen { b { display: none } }</style><i>screen</i><b>print</b>';

/** The document without options that follows each case finds the medium `print`. */
export const cases: OptionCases = {
  accepted: ['print', 'screen'],
  refused: [[{ mediaType: 'tv' }, 'mediaType', /must be one of print, screen/]],
  effects: [
    {
      title: 'style sheets for the screen apply to a document with script',
      html: `${DOCUMENT}<script>1</script>`,
      options: { mediaType: 'screen' },
      proof: ({ text }) => assert.equal(text.trim(), 'screen'),
    },
    {
      title: 'style sheets for print apply',
      html: DOCUMENT,
      options: { mediaType: 'print' },
      proof: ({ text }) => assert.equal(text.trim(), 'print'),
    },
    {
      title: 'style sheets for the screen apply to a document without script',
      html: DOCUMENT,
      options: { mediaType: 'screen' },
      proof: ({ text }) => assert.equal(text.trim(), 'screen'),
    },
  ],
};
