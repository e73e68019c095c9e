import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';

const CHAPTERS = 60;
const entry = (i: number) => `<p><a href="#kapitel-ü ${i}">Chapter ${i} <span data-page></span></a></p>`;
const chapter = (i: number) => `<h2 id="kapitel-ü ${i}" style="break-before: page">Title ${i}</h2>`;
const range = Array.from({ length: CHAPTERS }, (_, i) => i + 1);

export const cases: OptionCases = {
  accepted: [true, false],
  refused: [
    [{ tableOfContents: 'yes' }, 'tableOfContents', /must be a boolean/],
    [{ tableOfContents: true, pageRanges: '1' }, 'tableOfContents', /such as \{"tableOfContents": true\}/],
  ],
  effects: [
    {
      title: 'marked elements get the numbers of the pages that their links lead to',
      html: range.map(entry).join('') + range.map(chapter).join(''),
      options: { tableOfContents: true },
      proof({ pages }) {
        const text = pages.map((page) => page.text.replaceAll(/\s+/g, ' '));
        const contents = text.filter((page) => page.includes('Chapter')).join(' ');
        for (const i of range) {
          const page =
            text.findIndex((each) => each.includes(`Title ${i}`) && !each.includes(`Title ${i}0`)) + 1;
          assert.ok(page > 1);
          assert.match(contents, new RegExp(`Chapter ${i} ${page}\\b`));
        }
        assert.ok(pages.flatMap(({ links }) => links).length >= CHAPTERS, 'the links are there');
      },
    },
    {
      title: 'a link to nothing gets no number, and marked elements outside links stay as they are',
      html: '<a href="#none">None <b data-page>old</b></a><p data-page="{}">own</p><a href="#here">Here <i data-page></i></a><a href="/other#here">Other <i data-page></i></a><p id=here>x',
      options: { tableOfContents: true },
      proof: ({ text }) => assert.equal(text.replaceAll(/\s+/g, ' '), 'None own Here 1Other x'),
    },
  ],
};
