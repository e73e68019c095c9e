import assert from 'node:assert/strict';
import type { OptionCases, Printed } from './support/cases.ts';

const DARK = '<style>:root { color-scheme: dark }</style><p>x';
const isDark = async ({ draw }: Printed) => (await draw()).at(3, 3)[0] < 100;

export const cases: OptionCases = {
  accepted: [true, false],
  refused: [[{ omitBackground: 1 }, 'omitBackground', /must be a boolean/]],
  effects: [
    {
      title: 'the page of a dark document is transparent',
      html: DARK,
      options: { omitBackground: true },
      proof: async (pdf) => assert.equal(await isDark(pdf), false),
    },
    {
      title: 'without the option the page of a dark document is dark',
      html: DARK,
      options: { omitBackground: false },
      proof: async (pdf) => assert.equal(await isDark(pdf), true),
    },
  ],
};
