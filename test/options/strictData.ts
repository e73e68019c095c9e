import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';

export const cases: OptionCases = {
  accepted: [true, false],
  refused: [[{ strictData: 'yes' }, 'strictData', /must be a boolean/]],
  effects: [
    {
      title: 'a document that names no data is printed as it is',
      html: '<p>nothing is missing</p>',
      options: { strictData: true },
      proof: ({ text }) => assert.match(text, /nothing is missing/),
    },
  ],
};
