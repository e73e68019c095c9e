import assert from 'node:assert/strict';
import type { Rgb } from '../support/pdf.ts';
import type { OptionCases } from './support/cases.ts';

const text = 'DRAFT';
const DOCUMENT = '<p>one<p style="break-before: page">two';
const MARK = { text: 'SECRET', opacity: 0.6, color: '#ff0000' };
/** Red at that opacity. */
const PINK: Rgb = [255, 102, 102];

export const cases: OptionCases = {
  accepted: [
    { text: 'x'.repeat(120), opacity: 0.02, rotation: -90, color: 'x'.repeat(40) },
    { text, opacity: 0.6, rotation: 90 },
  ],
  refused: [
    [{ watermark: {} }, 'watermark.text', /is required/],
    [{ watermark: { text: '' } }, 'watermark.text', /at least 1 character/],
    [{ watermark: { text: 'x'.repeat(121) } }, 'watermark.text', /at most 120 characters/],
    [{ watermark: { text: 'a\u2028b' } }, 'watermark.text', /must be one line of text without U\+2028/],
    [{ watermark: { text, opacity: 0.61 } }, 'watermark.opacity', /must be at most 0.6/],
    [{ watermark: { text, opacity: 0.019 } }, 'watermark.opacity', /must be at least 0.02/],
    [{ watermark: { text, rotation: 91 } }, 'watermark.rotation', /must be at most 90/],
    [{ watermark: { text, rotation: -91 } }, 'watermark.rotation', /must be at least -90/],
    [{ watermark: { text, color: 'x'.repeat(41) } }, 'watermark.color', /at most 40 characters/],
  ],
  effects: [
    {
      title: 'the text is over every page, level, and fits it',
      html: DOCUMENT,
      options: { watermark: { ...MARK, rotation: 0 } },
      async proof({ pages, draw }) {
        assert.equal(pages.length, 2);
        for (const page of pages) assert.match(page.text, /SECRET/);
        const box = (await draw(2)).boxOfColor(PINK, 40)!;
        assert.ok(box.right - box.left > 3 * (box.bottom - box.top), 'it lies level');
        assert.ok(box.left > 20 && box.right < 575, `it fits the page: ${JSON.stringify(box)}`);
      },
    },
    {
      title: 'the text stands upright when it is turned by 90 degrees',
      html: DOCUMENT,
      options: { watermark: { ...MARK, rotation: 90 } },
      async proof({ draw }) {
        const box = (await draw()).boxOfColor(PINK, 40)!;
        assert.ok(box.bottom - box.top > 3 * (box.right - box.left), 'it stands upright');
      },
    },
  ],
};
