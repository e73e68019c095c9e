import type { RenderOptions } from '../../src/render/options/all/render-options.ts';

/** Options that belong together, by name, each with an example: options that a request may have as they are. */
interface OptionSection {
  readonly title: string;
  readonly options: Readonly<Record<string, RenderOptions>>;
}

/** The sections of docs/options.md and their options, what most documents need first. */
export const OPTION_SECTIONS: readonly OptionSection[] = [
  {
    title: 'Paper and scale',
    options: {
      format: { format: 'A5' },
      landscape: { landscape: true },
      margin: { margin: { top: '2cm', right: '15mm', bottom: '2cm', left: '15mm' } },
      scale: { scale: 0.8 },
      printBackground: { printBackground: false },
      width: { width: '100mm', height: '150mm' },
      height: { width: '100mm', height: '150mm' },
      preferCSSPageSize: { preferCSSPageSize: true },
      pageRanges: { pageRanges: '1-3,5,8-' },
      shrinkToFit: { shrinkToFit: false },
      singlePage: { singlePage: true },
    },
  },
  {
    title: 'Headers and footers',
    options: {
      displayHeaderFooter: {
        displayHeaderFooter: true,
        footerTemplate: 'Page <span class="pageNumber"></span>',
      },
      headerTemplate: {
        displayHeaderFooter: true,
        headerTemplate: '<div style="font-size: 9px; margin: auto"><span class="title"></span></div>',
      },
      footerTemplate: {
        displayHeaderFooter: true,
        footerTemplate:
          '<div style="font-size: 9px; margin: auto"><span class="pageNumber"></span> / <span class="totalPages"></span></div>',
      },
      firstHeaderTemplate: { displayHeaderFooter: true, firstHeaderTemplate: '' },
      firstFooterTemplate: { displayHeaderFooter: true, firstFooterTemplate: '' },
      lastHeaderTemplate: { displayHeaderFooter: true, lastHeaderTemplate: '' },
      lastFooterTemplate: {
        displayHeaderFooter: true,
        lastFooterTemplate: '<div style="font-size: 9px; margin: auto">End of the document</div>',
      },
    },
  },
  {
    title: 'When the document is ready',
    options: {
      waitUntil: { waitUntil: 'networkidle' },
      waitForSelector: { waitForSelector: '#chart svg' },
      waitForExpression: { waitForExpression: 'window.ready === true' },
      waitForEvent: { waitForEvent: 'ready' },
      delayMs: { delayMs: 500 },
      timeoutMs: { timeoutMs: 60_000 },
      bestEffort: { bestEffort: true },
    },
  },
  {
    title: 'What the document loads',
    options: {
      baseUrl: { baseUrl: 'https://assets.example/invoices/' },
      assetHeaders: { assetHeaders: { Authorization: 'Bearer 9f2c' } },
      assetOrigins: {
        assetHeaders: { Authorization: 'Bearer 9f2c' },
        assetOrigins: ['https://assets.example'],
      },
      cookies: { cookies: [{ name: 'session', value: '9f2c', url: 'https://app.example/' }] },
      blockRequests: { blockRequests: { urls: ['https://ads.example/*'], kinds: ['media'] } },
      userAgent: { userAgent: 'ExamplePrinter/1.0' },
      javascriptEnabled: { javascriptEnabled: false },
      csp: { csp: "default-src 'none'; style-src 'unsafe-inline'" },
      styles: { styles: ['.navigation { display: none }'] },
      scripts: { scripts: ["document.querySelector('#banner')?.remove()"] },
    },
  },
  {
    title: 'What the document sees',
    options: {
      mediaType: { mediaType: 'screen' },
      mediaFeatures: { mediaFeatures: { colorScheme: 'dark' } },
      viewport: { viewport: { width: 1280, height: 800, deviceScaleFactor: 2 } },
      locale: { locale: 'de-DE' },
      timezone: { timezone: 'Europe/Berlin' },
      omitBackground: { omitBackground: true },
    },
  },
  {
    title: 'What the PDF has',
    options: {
      metadata: { metadata: { title: 'Invoice 66', author: 'Example Ltd', keywords: ['invoice', '2026'] } },
      watermark: { watermark: { text: 'DRAFT', opacity: 0.1, rotation: 30, color: '#c00' } },
      attachments: {
        attachments: [
          { name: 'orders.csv', type: 'text/csv', content: 'YSxiCjEsMgo=', relationship: 'Data' },
        ],
      },
      protection: {
        protection: { userPassword: 'a secret', permissions: { copy: false } },
      },
      einvoice: { einvoice: { profile: 'en16931', documentType: 'invoice' } },
      seal: {
        seal: { key: { keyId: 'invoices' }, reason: 'Invoices of 2026' },
      },
      conformance: { conformance: { pdfa: '3b' } },
      outline: { outline: true },
      tagged: { tagged: true },
      forms: { forms: true },
      fill: { forms: true, fill: { values: { name: 'Ada' }, flatten: true } },
      tableOfContents: { tableOfContents: true },
    },
  },
  {
    title: 'Reports and strictness',
    options: {
      report: { report: true },
      strictData: { strictData: true },
      failOn: { failOn: { assetStatus: ['400-599'], missingGlyph: true, overflow: true } },
    },
  },
];
