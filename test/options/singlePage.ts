import assert from 'node:assert/strict';
import type { ReadPdf } from '../support/pdf.ts';
import { near, type OptionCases, type Printed, RED } from './support/cases.ts';

/** Each section has a red mark a fifth of the window from its top. */
const SCREENS = `<style>
  * { margin: 0 } section { height: 100vh; box-sizing: border-box; padding-top: 10vh }
  b { display: block; width: 10px; height: 20px; margin-top: 10vh; background: red }
</style>`;

/** Whether four sections of `height` points follow each other. */
async function screens(pages: ReadPdf['pages'], draw: Printed['draw'], height: number): Promise<void> {
  assert.equal(pages.length, 1);
  near(pages[0]!.height, 4 * height + 0.75);
  const picture = await draw();
  const marks = Array.from({ length: picture.height }, (_, y) => y).filter(
    (y) => String(picture.at(3, y)) === String(RED) && String(picture.at(3, y - 1)) !== String(RED),
  );
  assert.equal(marks.length, 4);
  for (const [i, mark] of marks.entries()) assert.ok(Math.abs(mark - (i + 0.2) * height) < 3, String(marks));
}

const EXAMPLE = /such as \{"singlePage": true/;

export const cases: OptionCases = {
  accepted: [true, false, { singlePage: true, landscape: true }, { singlePage: false, pageRanges: '1' }],
  refused: [
    [{ singlePage: 1 }, 'singlePage', /must be a boolean/],
    [{ singlePage: true, pageRanges: '1' }, 'singlePage', EXAMPLE],
    [{ singlePage: true, preferCSSPageSize: true }, 'singlePage', EXAMPLE],
  ],
  effects: [
    {
      title: 'the page is as tall as the document, whatever would break in it',
      html: `<style>@page { size: A5; margin: 3cm } * { margin: 0 }</style>
        <div style="height: 2000px">one</div><div style="height: 1000px; break-before: page; break-inside: avoid">two</div>
        <div style="height: 20px; background: red"></div>`,
      options: { singlePage: true, width: '6in', height: '2in', margin: { top: '1in', left: '1in' } },
      async proof({ pages, text, draw }) {
        assert.equal(pages.length, 1);
        near(pages[0]!.width, 432);
        near(pages[0]!.height, 72 + 3021 * 0.75);
        assert.match(text, /one\s+two/);
        const { left, bottom } = (await draw()).boxOfColor(RED)!;
        near(left, 72);
        near(bottom, pages[0]!.height - 1);
      },
    },
    {
      title: 'a scaled document fits as well, with what its style says for print',
      html: `<style>body { margin: 0 } div { height: 100px } @media print { div { height: 3000px } }</style><div></div><p style="margin: 0">end</p>`,
      options: { singlePage: true, scale: 0.5 },
      proof({ pages, text }) {
        assert.equal(pages.length, 1);
        assert.match(text, /end/);
        near(pages[0]!.height, (3000 * 0.75) / 2 + 8);
      },
    },
    {
      title: 'sections of 100vh are as tall as the paper each, on one page',
      html: `${SCREENS}${'<section><b></b>x</section>'.repeat(4)}`,
      options: { singlePage: true, format: 'A5' },
      proof: ({ pages, draw }) => screens(pages, draw, 595.5),
    },
    {
      title: 'sections of 100vh are as tall as viewport, if that is given, and so are those of 100%',
      html: `${SCREENS}<style>html, body, section { height: 100% }</style>${'<section><b></b>x</section>'.repeat(4)}`,
      options: { singlePage: true, viewport: { width: 1280, height: 800 } },
      proof: ({ pages, draw }) => screens(pages, draw, 600),
    },
    {
      title: 'an application that fills its window is as tall as that, and no lower',
      html: '<style>main { position: fixed; inset: 0; overflow: auto }</style><main><p>row</main>',
      options: { singlePage: true },
      proof: ({ pages }) => {
        assert.equal(pages.length, 1);
        near(pages[0]!.height, 842.75);
      },
    },
    {
      title: 'a short document has a short page, with something fixed to the end of its window as well',
      html: '<style>* { margin: 0 }</style><div style="height: 100px"></div><p style="position: fixed; bottom: 0">fixed',
      options: { singlePage: true },
      proof: ({ pages }) => near(pages[0]!.height, 75.75),
    },
    {
      title: 'no break that is important, and no named page, parts the document',
      html: `<style>
          * { margin: 0 } p { height: 100px }
          .a { break-before: page !important } .b { page: wide } @page wide { size: A3 landscape }
          @layer breaks { .c { break-after: always !important } }
        </style><p>1<p class=a>2<p class=b>3<p class=c>4<p style="page-break-before: always !important">5`,
      options: { singlePage: true },
      proof({ pages }) {
        assert.equal(pages.length, 1);
        near(pages[0]!.width, 595);
        near(pages[0]!.height, 375.75);
      },
    },
    {
      title: 'with landscape the page is as wide as the long side of the paper',
      html: '<style>* { margin: 0 }</style><div style="height: 100px; background: red">x</div>',
      options: { singlePage: true, landscape: true, margin: { top: '1in', left: '1in' } },
      async proof({ pages: [page], draw }) {
        near(page!.width, 842);
        near(page!.height, 72 + 75.75);
        const { left, top, right } = (await draw()).boxOfColor(RED)!;
        for (const [actual, expected] of [
          [left, 72],
          [top, 72],
          [right, 841],
        ] as const)
          near(actual, expected);
      },
    },
  ],
  failures: [
    {
      title: 'a page of a mile fails the render, and the error says what would help',
      html: '<div style="height: 63360in">x</div>',
      options: { singlePage: true },
      code: 'DOCUMENT_LIMIT',
      message: /in tall, of 200in at most: leave singlePage out, or give a smaller scale/,
    },
  ],
};
