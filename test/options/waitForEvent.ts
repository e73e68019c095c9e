import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';

export const cases: OptionCases = {
  accepted: ['x'.repeat(100), 'chart:ready'],
  refused: [
    [{ waitForEvent: '' }, 'waitForEvent', /at least 1 character/],
    [{ waitForEvent: 'x'.repeat(101) }, 'waitForEvent', /at most 100 characters/],
    [{ waitForEvent: 'a\0' }, 'waitForEvent', /must be one line of text without U\+0000/],
    [{ waitForEvent: 'x', javascriptEnabled: false }, 'waitForEvent', /\{"javascriptEnabled": true\}/],
  ],
  effects: [
    {
      title: 'the document is printed when the event has been dispatched',
      html: `<p id=p>early</p><script>setTimeout(() => { p.textContent = 'late'; document.dispatchEvent(new Event('ready"')) }, 300)</script>`,
      options: { waitForEvent: 'ready"' },
      proof: ({ text }) => assert.equal(text.trim(), 'late'),
    },
    {
      title: 'an event of an element counts, even if it was dispatched during loading',
      html: `<p id=p>x</p><script>p.dispatchEvent(new Event('ready')); p.textContent = 'over'</script>`,
      options: { waitForEvent: 'ready' },
      proof: ({ text }) => assert.equal(text.trim(), 'over'),
    },
  ],
  failures: [
    {
      title: 'an event that does not come fails the render at its deadline',
      html: `<script>dispatchEvent(new Event('other'))</script><p>x`,
      options: { waitForEvent: 'ready', timeoutMs: 1500 },
      code: 'CONDITION_TIMEOUT',
      message: /The event "ready" has not been dispatched in time/,
    },
  ],
};
