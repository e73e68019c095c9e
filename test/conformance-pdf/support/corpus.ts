import { readdirSync } from 'node:fs';
import type { RenderOptions } from '../../../src/render/options/all/render-options.ts';
import { exampleXml } from '../../support/invoice.ts';
import type { Flavour } from './verapdf.ts';

/** The names of the documents, each written with care: nothing in them is to be mended. */
export const DOCUMENTS: readonly string[] = readdirSync(new URL('../documents/', import.meta.url))
  .map((file) => file.replace(/\.html$/, ''))
  .toSorted();

const margin = (text: string) =>
  `<p style="font: 9px sans-serif">${text} <b class=pageNumber></b>/<b class=totalPages></b></p>`;
const MARGINS = {
  displayHeaderFooter: true,
  headerTemplate: margin('head'),
  footerTemplate: margin('foot <a href="https://margin.example/">link</a>'),
  margin: { top: '2cm', bottom: '2cm' },
};

/** Options that documents are printed with, and what they must conform to then. */
export interface Variant {
  readonly name: string;
  readonly options: RenderOptions;
  readonly flavours: readonly Flavour[];
}

const VARIANTS: readonly Variant[] = [
  { name: 'both', options: { conformance: { pdfa: '2a', pdfua: true } }, flavours: ['2a', 'ua1'] },
  {
    name: 'headers',
    options: { conformance: { pdfa: '3a', pdfua: true }, ...MARGINS },
    flavours: ['3a', 'ua1'],
  },
  {
    name: 'first and last headers',
    options: {
      conformance: { pdfua: true },
      ...MARGINS,
      firstHeaderTemplate: margin('first'),
      lastFooterTemplate: margin('last'),
    },
    flavours: ['ua1'],
  },
  {
    name: 'attachments',
    options: {
      conformance: { pdfa: '3a', pdfua: true },
      attachments: [
        {
          name: 'données.csv',
          type: 'text/csv',
          content: 'YSxi',
          relationship: 'Data',
          description: 'All numbers',
        },
        { name: 'notes.txt', content: 'eA==' },
      ],
    },
    flavours: ['3a', 'ua1'],
  },
  {
    name: 'e-invoice',
    options: {
      conformance: { pdfa: '3a', pdfua: true },
      einvoice: { profile: 'en16931', xml: exampleXml('en16931') },
      ...MARGINS,
    },
    flavours: ['3a', 'ua1'],
  },
  {
    name: 'watermark',
    options: { conformance: { pdfa: '2a' }, watermark: { text: 'DRAFT', opacity: 0.3 } },
    flavours: ['2a'],
  },
  {
    name: 'fields',
    options: { conformance: { pdfa: '2a', pdfua: true }, forms: true },
    flavours: ['2a', 'ua1'],
  },
  {
    name: 'contents and metadata',
    options: {
      conformance: { pdfa: '3a', pdfua: true },
      tableOfContents: true,
      metadata: {
        title: 'Tïtle 漢字 <&>',
        author: 'Zoë',
        subject: 'All',
        creator: 'Shop',
        producer: 'P',
        keywords: ['a', 'b c'],
      },
    },
    flavours: ['3a', 'ua1'],
  },
  {
    name: 'range',
    options: { conformance: { pdfa: '2a', pdfua: true }, pageRanges: '1', landscape: true, ...MARGINS },
    flavours: ['2a', 'ua1'],
  },
  {
    name: 'single page',
    options: { conformance: { pdfa: '2a', pdfua: true }, singlePage: true },
    flavours: ['2a', 'ua1'],
  },
  {
    name: 'untagged with headers',
    options: { conformance: { pdfa: '2b' }, ...MARGINS, watermark: { text: 'COPY' } },
    flavours: ['2b'],
  },
  { name: 'unicode', options: { conformance: { pdfa: '2u' }, scale: 0.7 }, flavours: ['2u', '2b'] },
  { name: 'part 3', options: { conformance: { pdfa: '3b' }, omitBackground: true }, flavours: ['3b'] },
  {
    name: 'part 4',
    options: { conformance: { pdfa: '4' }, ...MARGINS, metadata: { title: 'Four', keywords: ['x'] } },
    flavours: ['4'],
  },
  {
    name: 'part 4 with tags',
    options: { conformance: { pdfa: '4' }, tagged: true, outline: true, watermark: { text: 'FOUR' } },
    flavours: ['4'],
  },
  {
    name: 'on screen, with styles',
    options: {
      conformance: { pdfa: '3u', pdfua: true },
      mediaType: 'screen',
      printBackground: false,
      styles: ['body { background: #fff }'],
      locale: 'de-DE',
    },
    flavours: ['3u', 'ua1'],
  },
];

/** Each of these is printed with each document; the others with some documents each. */
const WITH_EACH = new Set(['both', 'headers', 'part 4', 'untagged with headers']);
/** So many of the others are printed with a document. */
const OTHERS_EACH = 3;

/** Documents in which a fault of ours was found once, by the options of `both`. */
const FOUND_FAULTS = [
  'arabic',
  'effects',
  'empty',
  'footnotes',
  'frames',
  'inline-svg',
  'languages-within',
  'links',
  'role-lists',
  'script-made',
  'shadow',
];

/** A document of the corpus with a variant that it is printed with. */
export interface Pair {
  readonly document: string;
  readonly variant: Variant;
}

/** @param all each document with all variants that matter, in place of one. */
export function pairs(all: boolean): Pair[] {
  const others = VARIANTS.filter(({ name }) => !WITH_EACH.has(name));
  const [both] = VARIANTS;
  if (!all)
    return DOCUMENTS.map((document, i) => {
      const variant = FOUND_FAULTS.includes(document) ? both! : VARIANTS[i % VARIANTS.length]!;
      return { document, variant };
    });
  return DOCUMENTS.flatMap((document, i) => {
    const some = Array.from(
      { length: OTHERS_EACH },
      (_, j) => others[(i * OTHERS_EACH + j) % others.length]!,
    );
    const variants = [...VARIANTS.filter(({ name }) => WITH_EACH.has(name)), ...some];
    return variants.map((variant) => ({ document, variant }));
  });
}
