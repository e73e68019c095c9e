import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';

export const cases: OptionCases = {
  accepted: ['', 'x'.repeat(5000)],
  refused: [[{ footerTemplate: 'x'.repeat(5001) }, 'footerTemplate', /at most 5000 characters/]],
  effects: [
    {
      title: 'a footer without a header is printed with neither date nor address',
      html: '<p>body',
      options: { displayHeaderFooter: true, footerTemplate: '<b style="font-size: 9px">foot</b>' },
      proof: ({ text }) => assert.equal(text.replaceAll(/\s+/g, ''), 'bodyfoot'),
    },
  ],
};
