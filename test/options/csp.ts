import assert from 'node:assert/strict';
import { type OptionCases, RED } from './support/cases.ts';

const DOCUMENT =
  '<style>b { display: block; width: 100px; height: 100px; background: red }</style><b></b>' +
  '<p id=p>before<script>p.textContent = "after"</script>';

export const cases: OptionCases = {
  accepted: ['', 'x'.repeat(2000)],
  refused: [
    [{ csp: 'x'.repeat(2001) }, 'csp', /at most 2000 characters/],
    [{ csp: "default-src 'self'\r\nX: y" }, 'csp', /must not hold line breaks or control characters/],
    [{ csp: 'a\x9f' }, 'csp', /must not hold line breaks or control characters/],
  ],
  effects: [
    {
      title: 'scripts do not run when the policy forbids them, with directives beside that are not ASCII',
      html: DOCUMENT,
      options: { csp: "é ✓ \ud83d; script-src 'none'; 😀" },
      async proof({ text, draw }) {
        assert.equal(text.trim(), 'before');
        assert.ok((await draw()).countColor(RED) > 3000);
      },
    },
    {
      title: 'scripts run and style sheets do not apply when the policy says so',
      html: DOCUMENT,
      options: { csp: "script-src 'unsafe-inline'; style-src 'none'" },
      async proof({ text, draw }) {
        assert.equal(text.trim(), 'after');
        assert.equal((await draw()).countColor(RED), 0);
      },
    },
  ],
};
