import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';

const DOCUMENT =
  '<p id=p>before<noscript>, no script</noscript></p><script>p.textContent = "after"</script><i class=there>.</i>';

export const cases: OptionCases = {
  accepted: [true, false],
  refused: [[{ javascriptEnabled: 'no' }, 'javascriptEnabled', /must be a boolean/]],
  effects: [
    {
      title: 'scripts do not run when it is false, and the waits for a selector and a delay end all the same',
      html: DOCUMENT,
      options: { javascriptEnabled: false, waitForSelector: '.there', delayMs: 20 },
      proof: ({ text }) => assert.equal(text.replaceAll(/\s+/g, ' '), 'before, no script .'),
    },
    {
      title: 'scripts run when it is true',
      html: DOCUMENT,
      options: { javascriptEnabled: true },
      proof: ({ text }) => assert.equal(text.replaceAll(/\s+/g, ' '), 'after .'),
    },
  ],
};
