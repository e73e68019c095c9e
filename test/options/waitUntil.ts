import assert from 'node:assert/strict';
import { type OptionCases, SITE } from './support/cases.ts';

/** That `load`, the default, waits for pictures is in the failure of `timeoutMs`. */
export const cases: OptionCases = {
  accepted: ['load', 'domcontentloaded', 'networkidle'],
  refused: [
    [{ waitUntil: 'networkidle0' }, 'waitUntil', /must be one of load, domcontentloaded, networkidle/],
  ],
  effects: [
    {
      title: 'a document is printed at domcontentloaded although its picture never comes',
      html: `<p>there</p><img src="${SITE}/never.svg">`,
      options: { waitUntil: 'domcontentloaded' },
      proof: ({ text }) => assert.equal(text.trim(), 'there'),
    },
    {
      title: 'what a script fetches after loading is there at networkidle',
      html: `<p id=p>early</p><script>addEventListener('load', () => setTimeout(() =>
        fetch('${SITE}/red.css').then((response) => response.text()).then((text) => { p.textContent = text })))</script>`,
      options: { waitUntil: 'networkidle' },
      proof: ({ text }) => assert.equal(text.trim(), 'p { background: red }'),
    },
  ],
};
