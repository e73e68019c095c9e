import assert from 'node:assert/strict';
import { near, type OptionCases, RED } from './support/cases.ts';

const DOCUMENT = '<body style="margin: 0"><div style="background: red; height: 100px"></div>x';

const BAR =
  '<div style="background: red; color: yellow; width: 100%; height: 20px; font: bold 18px sans-serif">████</div>';
const MARGINS = {
  displayHeaderFooter: true,
  headerTemplate: BAR,
  footerTemplate: '<i></i>',
  margin: { top: '2cm', bottom: '2cm' },
};

export const cases: OptionCases = {
  accepted: [true, false],
  refused: [[{ printBackground: 'no' }, 'printBackground', /must be a boolean/]],
  effects: [
    {
      title: 'backgrounds and light text of headers and footers are printed as they are',
      html: '<p>x',
      options: { ...MARGINS, firstFooterTemplate: BAR },
      async proof({ draw }) {
        const page = await draw();
        assert.ok(page.countColor(RED) > 2 * 500 * 15, 'both bars');
        assert.ok(page.countColor([255, 255, 0]) > 0, 'their text');
      },
    },
    {
      title: 'backgrounds of headers are left out when it is false',
      html: '<p>x',
      options: { ...MARGINS, printBackground: false },
      proof: async ({ draw }) => assert.equal((await draw()).countColor(RED), 0),
    },
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
