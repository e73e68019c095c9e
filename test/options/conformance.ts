import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';

const DOCUMENT =
  '<html lang=en><title>Letter</title><h1>Letter</h1><ul><li>one</ul><p>Read <a href="https://a.example/">this</a>.';
const OTHERS = { metadata: { title: 'T' }, delayMs: 20, landscape: true };

export const cases: OptionCases = {
  accepted: [
    { pdfa: '2b' },
    { pdfa: '4' },
    { pdfua: true },
    { pdfa: '3a', pdfua: true, onFault: 'report' },
    { conformance: { pdfa: '2u', pdfua: true }, tagged: true, outline: false },
    { conformance: { pdfa: '2b' }, tagged: false },
  ],
  refused: [
    [{ conformance: { pdfa: '1b' } }, 'conformance.pdfa', /2b/],
    [{ conformance: {} }, 'conformance', /must have pdfa, pdfua or both, such as/],
    [{ conformance: { pdfua: false } }, 'conformance', /must have pdfa, pdfua or both/],
    [
      { conformance: { pdfa: '4', pdfua: true } },
      'conformance',
      /PDF\/UA-2, whose structure types and namespaces Chromium/,
    ],
    [{ conformance: { pdfa: '2a' }, tagged: false }, 'conformance', /needs tags: leave tagged out/],
    [{ conformance: { pdfua: true, onFault: 'ignore' } }, 'conformance.onFault', /fail/],
  ],
  effects: [
    {
      title: 'the PDF says what it conforms to, is tagged and has bookmarks',
      html: DOCUMENT,
      options: { conformance: { pdfa: '2a', pdfua: true } },
      others: OTHERS,
      proof({ xmp, tagged, outline }) {
        assert.match(xmp ?? '', /<pdfaid:part>2<.*\n<pdfaid:conformance>A<.*\n<pdfuaid:part>1</);
        assert.equal(tagged, true);
        assert.deepEqual(outline, ['Letter']);
      },
    },
    {
      title: 'an archived PDF without tags keeps its title in its packet',
      html: DOCUMENT,
      options: { conformance: { pdfa: '4' } },
      others: OTHERS,
      proof({ xmp, tagged, bytes }) {
        assert.match(xmp ?? '', /<pdfaid:part>4<.*\n<pdfaid:rev>2020</);
        assert.match(xmp ?? '', /<dc:title><rdf:Alt><rdf:li xml:lang="x-default">(?:Letter|T)</);
        assert.equal(tagged, false);
        assert.equal(Buffer.from(bytes.subarray(0, 8)).toString(), '%PDF-2.0');
      },
    },
  ],
  failures: [
    {
      title: 'by the faults of its author',
      html: "<h3>x</h3><img src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>\">",
      options: { conformance: { pdfua: true } },
      code: 'CONFORMANCE_FAILED',
      message:
        /4 faults keep the document from PDF\/UA-1: .*lang.*title.*picture img.*h3 is the first heading/s,
    },
  ],
};
