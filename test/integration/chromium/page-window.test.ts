import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { RenderOptions } from '../../../src/render/options/all/render-options.ts';
import { readPdf, renderPage } from '../../support/pdf.ts';
import { inDrawnFrames, render, useBench } from './support.ts';

const fileOf = (name: string, file: string) => readFileSync(new URL(file, import.meta.resolve(name)), 'utf8');

const page = (library: string, markup: string, script: string, css = '') =>
  `<!doctype html><style>* { margin: 0 } ${css}</style>${markup}<script>${library}</script><script>${script}</script>`;

/** Charts that take the width of the page, and colour all of it red. */
const CHARTS = {
  'Chart.js': page(
    fileOf('chart.js', 'chart.umd.js'),
    '<div style="height: 100px"><canvas id=c></canvas></div>',
    `const red = { id: 'red', beforeDraw: ({ ctx, width, height }) => { ctx.fillStyle = '#f00'; ctx.fillRect(0, 0, width, height); } };
     new Chart(c, { type: 'bar', plugins: [red], options: { maintainAspectRatio: false },
       data: { labels: ['a', 'b'], datasets: [{ data: [1, 2] }] } })`,
  ),
  // Its lines are as long as the chart was wide when it was made.
  Chartist: page(
    fileOf('chartist', 'index.umd.js'),
    '<div id=c style="height: 100px"></div>',
    `new Chartist.LineChart(c, { labels: ['a', 'b'], series: [[1, 2]] }, { chartPadding: 0,
       axisX: { offset: 0, showLabel: false, showGrid: false }, axisY: { offset: 0, showLabel: false } })`,
    '.ct-grid { stroke: #f00; stroke-width: 5px } .ct-line, .ct-point { stroke: none }',
  ),
  uPlot: page(
    fileOf('uplot', 'uPlot.iife.js'),
    '<div id=c></div>',
    `new uPlot({ width: c.clientWidth, height: 100, legend: { show: false }, axes: [{ show: false }, { show: false }], series: [{}, {}],
       hooks: { drawClear: [({ ctx }) => { ctx.fillStyle = '#f00'; ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height); }] },
     }, [[1, 2], [3, 4]], c)`,
    fileOf('uplot', 'uPlot.min.css'),
  ),
};

const MARGIN = '25mm';
const MARGINS = { top: MARGIN, right: MARGIN, bottom: MARGIN, left: MARGIN };
/** Points from the edges of the paper. */
const INSET = (25 / 25.4) * 72;

const PAPERS: readonly (readonly [name: string, options: RenderOptions, inset: number])[] = [
  ['A4', {}, 0],
  ['A4 in landscape with margins', { landscape: true, margin: MARGINS }, INSET],
  ['A5', { format: 'A5' }, 0],
  ['A4 scaled down', { scale: 0.6 }, 0],
];

const SIZE = `<p id=p></p><script>p.textContent = innerWidth + ' by ' + innerHeight</script>`;

describe('the window of a document', () => {
  const bench = useBench();

  for (const [name, html] of Object.entries(CHARTS))
    for (const [paper, options, inset] of PAPERS)
      it(`lets a chart of ${name} be as wide as the printable part of ${paper}`, async () => {
        const { bytes } = await render(bench, html, options);
        const { pages } = await readPdf(bytes);
        assert.equal(pages.length, 1);
        const { left, right } = (await renderPage(bytes)).boxOfColor([255, 0, 0])!;
        const seen = [left, pages[0]!.width - right - 1];
        for (const side of seen) assert.ok(Math.abs(side - inset) <= 1.5, `${seen} is not ${inset}`);
      });

  const size = async (html: string, options: RenderOptions = {}) =>
    (await readPdf((await render(bench, html, options)).bytes)).text.trim();

  it('has the size of an A4 page, with frames and without, and after other documents', async () => {
    for (const html of [SIZE, inDrawnFrames(SIZE)]) {
      assert.equal(await size(html), '794 by 1122');
      assert.equal(await size(html, { format: 'A5' }), '560 by 794');
      assert.equal(await size(html), '794 by 1122');
    }
  });

  it('follows the @page rules in the document', async () => {
    const styled = (css: string) => `<!doctype html><style>${css}</style>${SIZE}`;
    const cm = 96 / 2.54;
    const by = (width: number, height: number) => `${Math.floor(width)} by ${Math.floor(height)}`;
    const preferCSSPageSize = true;
    assert.equal(
      await size(styled('@page { size: A5 landscape }'), { preferCSSPageSize }),
      by(21 * cm, 14.8 * cm),
    );
    assert.equal(
      await size(styled('@page { margin: 1cm 3cm; @top-left { margin: 1cm } }'), {
        margin: { left: '5cm' },
      }),
      by(794.67 - 6 * cm, 1122.67 - 2 * cm),
    );
    // The first page alone says nothing of the others.
    assert.equal(await size(styled('@page :first { margin: 5cm } @page { size: landscape }')), '1122 by 794');
  });

  it('has the size that viewport gives', async () => {
    assert.equal(await size(SIZE, { format: 'A5', viewport: { width: 500, height: 400 } }), '500 by 400');
  });

  it('is no larger than a window may be', async () => {
    assert.equal(await size(SIZE, { width: '200in', height: '200in', scale: 0.5 }), '10000 by 5000');
  });
});
