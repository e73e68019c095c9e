import assert from 'node:assert/strict';
import { BLUE, echo, type OptionCases, RED } from './support/cases.ts';

const ASKS = echo('user-agent', 'Reports/1.0');

export const cases: OptionCases = {
  accepted: ['x', 'x'.repeat(512)],
  refused: [
    [{ userAgent: 'x'.repeat(513) }, 'userAgent', /at most 512 characters/],
    [{ userAgent: '' }, 'userAgent', /at least 1 character/],
    [{ userAgent: 'a\r\nX-B: c' }, 'userAgent', /must be printable ASCII, such as Reports\/1.0/],
    [{ userAgent: 'é' }, 'userAgent', /must be printable ASCII/],
    [{ userAgent: '  ' }, 'userAgent', /such as Reports\/1.0/],
  ],
  effects: [
    {
      title: 'requests send the agent, and scripts find it',
      html: `${ASKS}<p id=p></p><script>p.textContent = navigator.userAgent</script>`,
      options: { userAgent: 'Reports/1.0 (nightly)', locale: 'de' },
      async proof({ text, draw }) {
        assert.equal(text.trim(), 'Reports/1.0 (nightly)');
        assert.ok((await draw()).countColor(RED) > 3000);
      },
    },
    {
      title: 'requests of a document without script send the agent',
      html: ASKS,
      options: { userAgent: 'Reports/1.0' },
      proof: async ({ draw }) => assert.ok((await draw()).countColor(RED) > 3000),
    },
    {
      title: 'a response to another agent is not used',
      html: ASKS,
      options: { userAgent: 'Others/1.0' },
      proof: async ({ draw }) => assert.ok((await draw()).countColor(BLUE) > 3000),
    },
  ],
};
