import { readdirSync } from 'node:fs';
import type { RenderOptions } from '../../../src/render/options/all/render-options.ts';
import type { AccessibilityRule } from '../../../src/render/report/accessibility.ts';
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
export const VARIANTS: readonly {
  readonly name: string;
  readonly options: RenderOptions;
  readonly flavours: readonly Flavour[];
}[] = [
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
    name: 'watermark',
    options: { conformance: { pdfa: '2a' }, watermark: { text: 'DRAFT', opacity: 0.3 } },
    flavours: ['2a'],
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

/** What people forget: how a document looks without it, and the fault that it then has. */
export const CARELESS: readonly {
  readonly rule: AccessibilityRule;
  /** What is left out, or written in another way. */
  readonly pattern: RegExp;
  readonly instead: string;
}[] = [
  { rule: 'language', pattern: /<html lang="[^"]*"/, instead: '<html' },
  { rule: 'title', pattern: /<title>.*?<\/title>/, instead: '' },
  {
    rule: 'alternativeText',
    pattern: / (?:alt|role="img" aria-label|aria-label)="[^"]+"( role="img")?(?= )/g,
    instead: '',
  },
  { rule: 'headingOrder', pattern: /<(\/?)h2\b/g, instead: '<$1h4' },
  { rule: 'tableHeaders', pattern: /<(\/?)th\b(?! *ead)/g, instead: '<$1td' },
  { rule: 'fieldLabel', pattern: /<(\/?)label\b/g, instead: '<$1div' },
  { rule: 'contrast', pattern: /color: #(?:222|111|000|1a2a3a)\b/, instead: 'color: #aaa' },
];

/** A document as somebody writes it who thinks of none of this, and the rules that it then breaks. */
export function carelessly(html: string): { readonly html: string; readonly rules: AccessibilityRule[] } {
  let written = html;
  const rules: AccessibilityRule[] = [];
  for (const { rule, pattern, instead } of CARELESS) {
    const next = written.replace(pattern, instead);
    if (next !== written) rules.push(rule);
    written = next;
  }
  // A link around a picture has the text of the picture, or none.
  if (rules.includes('alternativeText') && /<a [^>]*><img/.test(html)) rules.push('linkText');
  return { html: written, rules: rules.toSorted() };
}
