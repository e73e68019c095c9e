import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';

/** What happens when the element does not come is in `test/integration/chromium/hostile.test.ts`. */
export const cases: OptionCases = {
  accepted: ['p', 'x'.repeat(255)],
  refused: [
    [{ waitForSelector: '' }, 'waitForSelector', /at least 1 character/],
    [{ waitForSelector: 'x'.repeat(256) }, 'waitForSelector', /at most 255 characters/],
  ],
  effects: [
    {
      title: 'the document is printed when the element is there, and nothing after it is waited for',
      html: `<script>setTimeout(() => { document.body.innerHTML = '<p id=late>arrived' }, 300)
        setTimeout(() => document.body.append('much later'), 20000)</script>`,
      options: { waitForSelector: '#late' },
      proof: ({ text }) => assert.equal(text.trim(), 'arrived'),
    },
  ],
};
