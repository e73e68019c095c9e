import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';

export const cases: OptionCases = {
  accepted: [true, false],
  refused: [[{ report: 'yes' }, 'report', /must be a boolean/]],
  effects: [
    {
      title: 'a document is printed as it is without a report',
      html: '<p id=p>there</p><script>console.log("seen"); p.append(" it is")</script>',
      options: { report: true },
      proof: ({ text }) => assert.match(text, /there it is/),
    },
  ],
};
