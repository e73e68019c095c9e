import assert from 'node:assert/strict';
import { near, type OptionCases, RED } from './support/cases.ts';

const EXAMPLE = /such as \{"singlePage": true/;

export const cases: OptionCases = {
  accepted: [true, false, { singlePage: false, pageRanges: '1' }],
  refused: [
    [{ singlePage: 1 }, 'singlePage', /must be a boolean/],
    [{ singlePage: true, pageRanges: '1' }, 'singlePage', EXAMPLE],
    [{ singlePage: true, preferCSSPageSize: true }, 'singlePage', EXAMPLE],
    [{ singlePage: true, landscape: true }, 'singlePage', EXAMPLE],
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
