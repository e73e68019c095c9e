import assert from 'node:assert/strict';
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import type { OptionCases, Printed } from './support/cases.ts';

/** The text of each page that is in an artefact, and the rest of its text. */
async function artefacts({ bytes }: Printed): Promise<{ inside: string; outside: string }[]> {
  const document = await getDocument({ data: Uint8Array.from(bytes) }).promise;
  const found = [];
  for (let number = 1; number <= document.numPages; number += 1) {
    const { items } = await (await document.getPage(number)).getTextContent({ includeMarkedContent: true });
    const open: string[] = [];
    const texts = { inside: '', outside: '' };
    for (const item of items) {
      if ('str' in item) texts[open.includes('Artifact') ? 'inside' : 'outside'] += item.str;
      else if (item.type.startsWith('begin')) open.push((item as { tag?: string }).tag ?? '');
      else open.pop();
    }
    found.push(texts);
  }
  return found;
}

const text = (name: string) =>
  `<p style="font-size: 10px">${name}<b class=pageNumber></b>of<b class=totalPages></b></p>`;
const MARGINS = {
  displayHeaderFooter: true,
  headerTemplate: text('head'),
  footerTemplate: text('foot'),
  margin: { top: '2cm', bottom: '2cm' },
};
const PAGES = '<h1>one</h1><h1 style="break-before: page">two</h1><h1 style="break-before: page">three</h1>';

export const cases: OptionCases = {
  accepted: [true, false],
  refused: [[{ tagged: 'yes' }, 'tagged', /must be a boolean/]],
  effects: [
    {
      title: 'the PDF is marked as tagged and has structure',
      html: '<h1>x</h1>',
      options: { tagged: true },
      proof: ({ tagged }) => assert.equal(tagged, true),
    },
    {
      title: 'headers and footers are artefacts',
      html: PAGES,
      options: { tagged: true, ...MARGINS },
      async proof(printed) {
        assert.equal(printed.tagged, true);
        assert.deepEqual(await artefacts(printed), [
          { inside: 'head1of3foot1of3', outside: 'one' },
          { inside: 'head2of3foot2of3', outside: 'two' },
          { inside: 'head3of3foot3of3', outside: 'three' },
        ]);
      },
    },
    {
      title: 'so are those of some pages, with an outline',
      html: PAGES,
      options: { tagged: true, ...MARGINS, pageRanges: '2-3', outline: true },
      async proof(printed) {
        assert.deepEqual(await artefacts(printed), [
          { inside: 'head2of3foot2of3', outside: 'two' },
          { inside: 'head3of3foot3of3', outside: 'three' },
        ]);
      },
    },
    {
      title: 'the PDF has no tags when it is false',
      html: '<h1>x</h1>',
      options: { tagged: false },
      others: { metadata: { title: 'T' }, delayMs: 20, landscape: true },
      proof: ({ tagged }) => assert.equal(tagged, false),
    },
  ],
};
