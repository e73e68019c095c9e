import assert from 'node:assert/strict';
import { BLUE, type OptionCases } from './support/cases.ts';

const MM = 72 / 25.4;
/** Exactly the height of upright A4, and more than its width. */
const upright = { top: '14.85cm', bottom: '14.85cm' };
/** More than the width of upright A4, less than its height. */
const across = { left: '5in', right: '12.7cm' };
const ROOM = /must leave room to print on/;

export const cases: OptionCases = {
  accepted: [
    {},
    ...['96px', '96', '.5in', '2.54cm', '25.4mm', '72pt', '6pc', '101.6Q', ' 1 CM '].map((left) => ({
      left,
    })),
    { margin: upright, format: 'A3' },
    { margin: upright },
    { margin: across, landscape: true },
    // The size of the paper is not known.
    { margin: across, preferCSSPageSize: true },
  ],
  refused: [
    ...[7, null, []].map((margin) => [{ margin }, 'margin', /must be an object/] as const),
    [{ margin: across }, 'margin', ROOM],
    [{ margin: upright, landscape: true }, 'margin', ROOM],
    [{ margin: { top: '99999in' }, scale: 3 }, 'margin', ROOM],
    [{ margin: { left: 5 } }, 'margin.left', /must be a string/],
    [{ margin: { left: `${'0'.repeat(31)}mm` } }, 'margin.left', /at most 32 characters/],
    ...['', '1constructor', '1cm\n', '1\u2028cm', '1em', '-1mm', '1 2mm', '50%', 'auto', '1e3mm'].map(
      (left) => [{ margin: { left } }, 'margin.left', /must be a length such as 12mm/] as const,
    ),
  ],
  effects: [
    {
      title: 'the margin of each side is left free',
      html: '<body style="margin: 0"><div style="background: blue; height: 3000px">x',
      options: { margin: { top: '10mm', right: '20mm', bottom: '1in', left: '48px' } },
      async proof({ draw }) {
        const box = (await draw()).boxOfColor(BLUE)!;
        assert.ok(Math.abs(box.top - 10 * MM) < 2, `top ${box.top}`);
        assert.ok(Math.abs(595 - box.right - 20 * MM) < 3, `right ${box.right}`);
        assert.ok(Math.abs(842 - box.bottom - 72) < 3, `bottom ${box.bottom}`);
        assert.ok(Math.abs(box.left - 36) < 2, `left ${box.left}`);
      },
    },
  ],
  failures: [
    {
      title: 'margins that leave no room on the paper that the document chooses fail the render',
      html: '<p>x',
      options: { margin: { left: '200mm', right: '200mm' }, preferCSSPageSize: true },
      code: 'RENDER_FAILED',
      message: /./,
    },
  ],
};
