import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';

/** Far from the delay: a page or a whole machine may stand still for a moment. */
const after = (ms: number) =>
  `<p>x</p><script>setTimeout(() => document.body.append('late'), ${ms})</script>`;

export const cases: OptionCases = {
  accepted: [0, 60_000],
  refused: [
    [{ delayMs: -1 }, 'delayMs', /must be at least 0/],
    [{ delayMs: 60_001 }, 'delayMs', /must be at most 60000/],
    [{ delayMs: 1.5 }, 'delayMs', /must be an integer/],
  ],
  effects: [
    {
      title: 'the document is printed after the delay',
      html: after(200),
      options: { delayMs: 1500 },
      proof: ({ text }) => assert.match(text, /late/),
    },
    {
      title: 'a timer of the document is not waited for without a delay',
      html: after(8000),
      options: { delayMs: 0 },
      proof: ({ text }) => assert.equal(text.trim(), 'x'),
    },
  ],
};
