import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import type { Browser } from 'puppeteer';
import type { RenderOptions } from '../../src/render/options/all/render-options.ts';
import { createPdfMerger } from '../../src/render/pdf/merge.ts';
import { MAX_FAULTS_OF_RULE } from '../../src/render/report/accessibility.ts';
import { type Bench, failure, render, startBench } from '../integration/chromium/support.ts';
import { HUNG_MS } from '../support/eventually.ts';
import { readPdf } from '../support/pdf.ts';
import { openWebBrowser } from '../support/web-browser.ts';
import { carelessly, namesOf } from './support/careless.ts';
import { DOCUMENTS, pairs } from './support/corpus.ts';
import { Sealer } from './support/sealer.ts';
import { corpusDocument, type Flavour, type Judged, violations } from './support/verapdf.ts';

/** Every document with all variants that matter, in place of one (`make conformance-pdf`). */
const ALL = process.env.CONFORMANCE === 'all';

/** What documents are sealed with, and what they must conform to all the same. */
const SEALED: readonly { readonly options: RenderOptions; readonly flavours: readonly Flavour[] }[] = [
  { options: { conformance: { pdfa: '3a', pdfua: true } }, flavours: ['3a', 'ua1'] },
  { options: { conformance: { pdfa: '2b' } }, flavours: ['2b'] },
  { options: { conformance: { pdfa: '2a', pdfua: true } }, flavours: ['2a', 'ua1'] },
  { options: { conformance: { pdfa: '4' } }, flavours: ['4'] },
];

describe('PDFs that conform', function () {
  this.timeout((ALL ? 20 : 5) * HUNG_MS);
  let bench: Bench;
  let browser: Browser;
  before(async () => {
    [bench, browser] = await Promise.all([startBench(), openWebBrowser()]);
  });
  after(() => Promise.all([bench?.close(), browser?.close()]));

  it('are valid in the eyes of veraPDF, whatever options they are printed with', async () => {
    const printed: Judged[] = [];
    for (const { document, variant } of pairs(ALL)) {
      const { name, options, flavours } = variant;
      const title = `${document}, ${name}`;
      const { bytes } = await render(bench, await corpusDocument(document), options).catch((error: Error) => {
        throw new Error(`${title}: ${error.message}`);
      });
      printed.push({ name: title, bytes, flavours });
    }
    assert.ok(printed.length >= (ALL ? 60 * 7 : 60));
    assert.deepEqual(await violations(printed), []);
  });

  it('still conform when they are sealed, drawn or not, with what proves it later, and the seals are valid in the eyes of pyHanko', async () => {
    const sealer = await Sealer.open();
    try {
      const sealed: Judged[] = [];
      for (const [i, document] of DOCUMENTS.entries()) {
        if (i % (ALL ? 4 : 25) !== 0) continue;
        for (const [name, { options, flavours }] of SEALED.entries()) {
          if (!ALL && name > 0) continue;
          const { bytes } = await render(bench, await corpusDocument(document), {
            ...options,
            seal: Sealer.VISIBLE,
          });
          const pdf = await sealer.seal(bytes, document);
          sealed.push({ name: `${document}, ${flavours}`, bytes: pdf, flavours });
        }
      }
      assert.ok(sealed.length >= 3);
      assert.deepEqual(await violations(sealed), []);
    } finally {
      await sealer.close();
    }
  });

  it('are merged into one that conforms as all of them do', async () => {
    const merger = createPdfMerger({ memoryBytes: 1024 ** 3 });
    const merged = async (documents: readonly [name: string, options: RenderOptions][]) => {
      const sources = [];
      for (const [name, options] of documents) {
        const { bytes } = await render(bench, await corpusDocument(name), options);
        sources.push({ title: name, bytes: bytes.length, read: async () => bytes });
      }
      const { signal } = new AbortController();
      return await buffer(merger.merge(sources, { account: 'a', signal }));
    };
    try {
      const both: RenderOptions = { conformance: { pdfa: '2a', pdfua: true } };
      const alike = await merged([
        ['invoice', both],
        ['letter', both],
        ['figures', both],
      ]);
      const lower = await merged([
        ['lists', both],
        ['charts', { conformance: { pdfa: '2b' } }],
      ]);
      const none = await merged([
        ['lists', both],
        ['charts', { tagged: true }],
      ]);
      const files: Judged[] = [
        { name: 'of two languages', bytes: alike, flavours: ['2a', 'ua1'] },
        { name: 'of two levels', bytes: lower, flavours: ['2b'] },
      ];
      assert.deepEqual(await violations(files), []);
      assert.equal((await readPdf(none)).xmp, undefined);
      assert.doesNotMatch((await readPdf(lower)).xmp!, /pdfuaid:part/);
    } finally {
      await merger.close();
    }
  });

  it('are none where options leave it to Chromium, so that the judge is one', async () => {
    const { bytes } = await render(bench, await corpusDocument('invoice'), { tagged: true });
    const found = await violations([{ name: 'invoice', bytes, flavours: ['ua1', '2a'] }]);
    assert.ok(found.length >= 4, found.join('\n'));
  });

  for (const document of DOCUMENTS) {
    it(`name every fault of a careless author, and no other: ${document}`, async () => {
      const options: RenderOptions = { conformance: { pdfua: true, onFault: 'report' } };
      const { html, faults } = await carelessly(browser, await corpusDocument(document));
      assert.ok(faults.length >= 4, faults.join());
      const { findings } = await render(bench, html, options);
      const found = findings!.accessibility;
      const names = await namesOf(browser, html, found);
      const words = found.map(({ message }, i) => `${names[i]}: ${message}`).join('\n');
      const [expected, more] = upToMost(faults);
      assert.deepEqual(names.filter((name) => !more.includes(name)).toSorted(), expected.toSorted(), words);
      assert.equal(names.length, expected.length + (more.length > 0 ? MAX_FAULTS_OF_RULE : 0), words);
      for (const { rule, whose, message } of found) {
        assert.equal(whose, rule === 'missingCharacter' ? 'font' : 'document');
        assert.match(message, /[;,] |needs/, rule);
      }
      assert.equal(findings!.unseen.length, document === 'frames' ? 1 : 0);
    });
  }

  it('have no faults where the author took care', async () => {
    for (const document of DOCUMENTS) {
      const options: RenderOptions = { conformance: { pdfua: true, onFault: 'report' } };
      const { findings } = await render(bench, await corpusDocument(document), options);
      assert.deepEqual(findings!.accessibility, [], document);
    }
  });

  it('fail the render with a list of the faults, unless these are to be reported', async () => {
    const { html } = await carelessly(browser, await corpusDocument('figures'));
    const { code, message } = await failure(
      render(bench, html, { conformance: { pdfa: '2a', pdfua: true } }),
    );
    assert.equal(code, 'CONFORMANCE_FAILED');
    assert.match(message, /faults keep the document from PDF\/A-2a and PDF\/UA-1: .*title.*; .*picture/);
    const { bytes, findings } = await render(bench, html, {
      conformance: { pdfua: true, onFault: 'report' },
    });
    assert.match((await readPdf(bytes)).xmp!, /<pdfuaid:part>1</);
    assert.ok(findings!.accessibility.length > 3);
  });

  it('name the font where a character has none, also without tags and in a header', async () => {
    const html = '<!doctype html><html lang=en><title>x</title><h1>A \u{E000}\u{10FFFD}</h1>';
    const margins = { displayHeaderFooter: true, headerTemplate: '<p style="font-size: 9px">\u{E001}</p>' };
    for (const pdfa of ['2b', '2a'] as const) {
      const options: RenderOptions = { conformance: { pdfa, onFault: 'report' }, ...margins };
      const { findings } = await render(bench, html, options);
      const found = findings!.accessibility;
      assert.ok(found.length >= 2, pdfa);
      assert.deepEqual(
        new Set(found.map(({ rule, whose, page }) => `${rule} ${whose} ${page}`)),
        new Set(['missingCharacter font 1']),
      );
    }
    const { code } = await failure(render(bench, html, { conformance: { pdfa: '2b' } }));
    assert.equal(code, 'CONFORMANCE_FAILED');
  });

  it('refuse a document before it is printed that has more rows or elements than tags allow', async () => {
    const rows = `<table>${'<tr><td>x'.repeat(10_001)}</table>`;
    const few = await failure(render(bench, rows, { conformance: { pdfua: true } }));
    assert.equal(few.code, 'DOCUMENT_LIMIT');
    assert.match(few.message, /10000 rows of tables, and this one has 10001/);
    const elements = '<b>x</b>'.repeat(60_001);
    const many = await failure(render(bench, elements, { conformance: { pdfa: '2a' } }));
    assert.match(many.message, /60000 elements, and this one has more/);
  });
});

/** The faults of rules that a report lists all of, and those of a rule that has more than it lists. */
function upToMost(faults: readonly string[]): [all: string[], some: string[]] {
  const ofRule = Map.groupBy(faults, (name) => name.replace(/:.*/, ''));
  const isMany = (name: string) => ofRule.get(name.replace(/:.*/, ''))!.length > MAX_FAULTS_OF_RULE;
  return [faults.filter((name) => !isMany(name)), faults.filter(isMany)];
}
