import assert from 'node:assert/strict';
import type { RenderOptions } from '../../../src/render/options/all/render-options.ts';
import { readPdf, renderPage } from '../../support/pdf.ts';
import { render, useBench } from './support.ts';

/** A page of one colour, of a size in millimetres. */
const full = (width: number, height: number, pages = 1) =>
  '<!doctype html><style>* { margin: 0 } div { background: #036 } div + div { break-before: page }</style>' +
  `<div style="width: ${width}mm; height: ${height}mm"></div>`.repeat(pages);

const own = (width: number, height: number): [number, number, RenderOptions] => [
  width,
  height,
  { width: `${width}mm`, height: `${height}mm` },
];

/** Papers in millimetres, by their options. */
const PAPERS: readonly (readonly [number, number, RenderOptions])[] = [
  [210, 297, {}],
  [297, 210, { landscape: true }],
  [148, 210, { format: 'A5' }],
  [297, 420, { format: 'A3' }],
  [215.9, 279.4, { format: 'Letter' }],
  own(62, 29),
  own(105, 148),
  own(25.4, 40.1),
  own(99.9, 210),
];

const DPI = 300;
const points = (mm: number) => (mm / 25.4) * 72;

describe('paper without margins', () => {
  const bench = useBench();

  for (const [width, height, options] of PAPERS)
    it(`of ${width} by ${height} mm has exactly that size, and colour up to its edges`, async () => {
      const { bytes } = await render(bench, full(width, height), options);
      const { pages } = await readPdf(bytes);
      assert.equal(pages.length, 1);
      assert.ok(Math.abs(pages[0]!.width - points(width)) < 0.01, `${pages[0]!.width}`);
      assert.ok(Math.abs(pages[0]!.height - points(height)) < 0.01, `${pages[0]!.height}`);
      const picture = await renderPage(bytes, 1, DPI / 72);
      const [right, bottom] = [picture.width - 1, picture.height - 1];
      for (const [x, y] of [
        [0, 0],
        [right, 0],
        [right, bottom],
        [0, bottom],
      ] as const)
        assert.ok(picture.at(x, y)[0] < 100, `${x}, ${y}: ${picture.at(x, y)}`);
    });

  it('has that size on all pages, with headers, a watermark and metadata over them', async () => {
    const { bytes } = await render(bench, full(210, 297, 3), {
      displayHeaderFooter: true,
      firstHeaderTemplate: '<p style="font-size: 9px">First</p>',
      margin: { top: '0mm' },
      watermark: { text: 'Draft' },
      metadata: { title: '/MediaBox [0 0 595.91998 841.91998]' },
    });
    const { pages, metadata } = await readPdf(bytes);
    assert.deepEqual(
      pages.map(({ width, height }) => [width.toFixed(2), height.toFixed(2)]),
      Array(3).fill(['595.28', '841.89']),
    );
    assert.equal(metadata.title, '/MediaBox [0 0 595.91998 841.91998]');
  });

  it('has that size where the document chooses none, whatever is written on it', async () => {
    const text = '/Type /Page\n/Resources <<'.repeat(2);
    const { bytes } = await render(bench, `<title>${text}</title><pre>${text}</pre>`);
    const [page] = (await readPdf(bytes)).pages;
    assert.equal(page!.width.toFixed(2), '595.28');
    assert.match(page!.text, /\/Type \/Page/);
  });
});
