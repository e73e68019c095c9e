import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';

export const cases: OptionCases = {
  accepted: [true, false, { outline: true, tagged: true }],
  refused: [
    [{ outline: 'yes' }, 'outline', /must be a boolean/],
    [{ outline: true, tagged: false }, 'outline', /needs tags: .*\{"outline": true, "tagged": true\}/],
  ],
  effects: [
    {
      title: 'headings become bookmarks, in a PDF with tags',
      html: '<h1>One</h1><h2>Below one</h2><p>x<h1 style="break-before: page">Two</h1>',
      options: { outline: true },
      proof({ outline, tagged }) {
        assert.deepEqual(outline, ['One', 'Two']);
        assert.equal(tagged, true);
      },
    },
    {
      title: 'without the option headings become no bookmarks, with tags or without',
      html: '<h1>One</h1>',
      options: { outline: false },
      proof: ({ outline }) => assert.deepEqual(outline, []),
    },
  ],
};
