import assert from 'node:assert/strict';
import { type OptionCases, SITE } from './support/cases.ts';

export const cases: OptionCases = {
  accepted: [1000, 300_000],
  refused: [
    [{ timeoutMs: 999 }, 'timeoutMs', /must be at least 1000/],
    [{ timeoutMs: 300_001 }, 'timeoutMs', /must be at most 300000/],
  ],
  effects: [
    {
      title: 'a document that is complete before the deadline is printed',
      html: '<p>there',
      options: { timeoutMs: 60_000 },
      proof: ({ text }) => assert.equal(text.trim(), 'there'),
    },
  ],
  failures: [
    {
      title: 'a document whose picture never comes fails the render at its deadline',
      html: `<p>x<img src="${SITE}/never.svg">`,
      options: { timeoutMs: 1500 },
      code: 'RENDER_TIMEOUT',
      message: /in time/,
    },
  ],
};
