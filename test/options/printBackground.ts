import assert from 'node:assert/strict';
import { near, type OptionCases, RED } from './support/cases.ts';

const DOCUMENT = '<body style="margin: 0"><div style="background: red; height: 100px"></div>x';

export const cases: OptionCases = {
  accepted: [true, false],
  refused: [[{ printBackground: 'no' }, 'printBackground', /must be a boolean/]],
  effects: [
    {
      title: 'backgrounds are left out when it is false',
      html: DOCUMENT,
      options: { printBackground: false },
      proof: async ({ draw }) => assert.equal((await draw()).countColor(RED), 0),
    },
    {
      title: 'backgrounds are printed without any option, from edge to edge of A4',
      html: DOCUMENT,
      options: {},
      async proof({ draw }) {
        const page = await draw();
        near(page.width, 595);
        near(page.height, 842);
        assert.deepEqual([page.at(0, 2), page.at(page.width - 2, 2)], [RED, RED]);
      },
    },
  ],
};
