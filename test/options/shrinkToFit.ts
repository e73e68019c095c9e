import assert from 'node:assert/strict';
import type { Rgb } from '../support/pdf.ts';
import { type OptionCases, type Printed, RED } from './support/cases.ts';

const GREEN: Rgb = [0, 255, 0];
const STYLE = `<style>
  div { width: 100mm; height: 10mm; background: red; } i { display: block; width: 2000px; height: 9px; background: lime; }
</style>`;

const millimetres = (pixels: number) => (pixels / 72 / 4) * 25.4;

/** Whether the red box has this width, and the green line ends at the right edge of the printable part. */
async function hasWidth({ draw }: Printed, red: number, edge: number, tolerance = 0.3): Promise<void> {
  const picture = await draw(1, 4);
  const { left, right } = picture.boxOfColor(RED)!;
  const width = millimetres(right - left + 1);
  assert.ok(Math.abs(width - red) < tolerance, `${width}`);
  const end = millimetres(picture.boxOfColor(GREEN)!.right + 1);
  assert.ok(Math.abs(end - edge) < 0.5, `${end}`);
}

export const cases: OptionCases = {
  accepted: [true, false, { shrinkToFit: false, singlePage: true }],
  refused: [[{ shrinkToFit: 'false' }, 'shrinkToFit', /must be a boolean/]],
  effects: [
    {
      title: 'lengths are kept, and what is wider than the paper is cut at its edge',
      html: `${STYLE}<div>x</div><i></i><p style="break-before: page">end`,
      options: { shrinkToFit: false },
      async proof(pdf) {
        assert.equal(pdf.pages.length, 2);
        await hasWidth(pdf, 100, 210);
      },
    },
    {
      title: 'lengths are kept beside margins that the document chooses, and without what is beside the page',
      html: `${STYLE}<style>@page { margin: 20mm }</style><div>x</div><i style="position: absolute; left: 50mm"></i>
        <b style="position: absolute; left: 3000px">out</b>`,
      options: { shrinkToFit: false },
      proof: (pdf) => hasWidth(pdf, 100, 190),
    },
    {
      title: 'what is repeated on every page stays, and a body of its own width as well',
      html: `${STYLE}<style>body { width: 400px; margin: 0 auto }</style><b style="position: fixed; top: 0">fixed</b>
        <div>x</div><i></i><p style="break-before: page">end`,
      options: { shrinkToFit: false, margin: { right: '10mm' } },
      async proof(pdf) {
        assert.equal(pdf.text.match(/fixed/g)?.length, 2);
        await hasWidth(pdf, 100, 200);
      },
    },
    {
      title: 'without it a wider document is smaller, by a third at most',
      html: `${STYLE}<div>x</div><i></i>`,
      options: { shrinkToFit: true },
      proof: (pdf) => hasWidth(pdf, 66.7, 210, 1),
    },
  ],
};
