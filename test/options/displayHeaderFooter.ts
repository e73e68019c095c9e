import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';

const TEMPLATE = '<b style="font-size: 9px">template</b>';

/** What `true` prints is in the cases of the templates. */
export const cases: OptionCases = {
  accepted: [true, false],
  refused: [[{ displayHeaderFooter: 'yes' }, 'displayHeaderFooter', /must be a boolean/]],
  effects: [
    {
      title: 'templates are not printed when it is false',
      html: '<p>body',
      options: { displayHeaderFooter: false, headerTemplate: TEMPLATE, footerTemplate: TEMPLATE },
      proof: ({ text }) => assert.equal(text.trim(), 'body'),
    },
  ],
};
