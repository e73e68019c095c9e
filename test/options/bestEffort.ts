import assert from 'node:assert/strict';
import { type OptionCases, SITE } from './support/cases.ts';

/** A quarter of the time is left for the rest of the render, on a busy machine as well. */
const WAITS = { bestEffort: true, timeoutMs: 12_000 };

export const cases: OptionCases = {
  accepted: [true, false],
  refused: [[{ bestEffort: 'yes' }, 'bestEffort', /must be a boolean/]],
  effects: [
    {
      title: 'a document whose picture never comes is printed without it',
      html: `<p>there</p><img src="${SITE}/never.svg">`,
      options: WAITS,
      proof: ({ text }) => assert.match(text, /there/),
    },
    {
      title: 'styles and scripts are in the document, however far its loading has come',
      html: `<p id=p>there</p><img src="${SITE}/never.svg">`,
      options: {
        ...WAITS,
        scripts: ['p.textContent = "put in"'],
        styles: ['p::after { content: " styled" }'],
      },
      proof: ({ text }) => assert.match(text, /put in styled/),
    },
    {
      title: 'a document is printed when what is waited for does not come',
      html: '<p>there</p><script>1</script>',
      options: {
        ...WAITS,
        waitForSelector: '#never',
        waitForExpression: 'window.never',
        waitForEvent: 'never',
      },
      proof: ({ text }) => assert.match(text, /there/),
    },
    {
      title: 'what comes in time is waited for',
      html: `<script>setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<b id=late>late</b>'), 300)</script><p>x</p>`,
      options: { bestEffort: true, waitForSelector: '#late' },
      proof: ({ text }) => assert.match(text, /late/),
    },
  ],
  failures: [
    {
      title: 'an invalid selector fails the render all the same',
      html: '<p>x',
      options: { ...WAITS, waitForSelector: 'p[' },
      code: 'SELECTOR_TIMEOUT',
      message: /is not a CSS selector/,
    },
  ],
};
