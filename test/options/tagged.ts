import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';

export const cases: OptionCases = {
  accepted: [true, false],
  refused: [[{ tagged: 'yes' }, 'tagged', /must be a boolean/]],
  effects: [
    {
      title: 'the PDF is marked as tagged and has structure',
      html: '<h1>x</h1>',
      options: { tagged: true },
      proof: ({ tagged }) => assert.equal(tagged, true),
    },
    {
      title: 'the PDF has no tags when it is false',
      html: '<h1>x</h1>',
      options: { tagged: false },
      others: { metadata: { title: 'T' }, delayMs: 20, landscape: true },
      proof: ({ tagged }) => assert.equal(tagged, false),
    },
  ],
};
