import { type Options, SITE } from './cases.ts';

/**
 * The options that could leave something in a page, as far as they go together, each with an effect that a later document
 * could find. Kept by hand: `test/unit/options/cases.test.ts` fails for an option that has a hook on the page (PAGE_HOOKS)
 * and is not here, nor in PAUSING, REPORTED or EXCLUDED.
 */
export const EVERYTHING: Options = {
  width: '7in',
  height: '5in',
  singlePage: true,
  shrinkToFit: false,
  margin: { top: '1in', bottom: '1in' },
  outline: true,
  tagged: true,
  forms: true,
  omitBackground: true,
  viewport: { width: 1234, height: 567, deviceScaleFactor: 2 },
  mediaType: 'screen',
  mediaFeatures: { colorScheme: 'dark', reducedMotion: 'reduce', contrast: 'more', forcedColors: 'active' },
  timezone: 'Asia/Kathmandu',
  locale: 'de-DE',
  userAgent: 'Reports/1.0',
  cookies: [
    { name: 'trace', value: '1', url: SITE },
    { name: 'trace', value: '2', url: 'http://document.localhost/' },
  ],
  styles: ['* { color: red !important; font-size: 30px }'],
  scripts: [
    'window.trace = 1; localStorage.trace = 1; document.cookie = "own=1"; dispatchEvent(new Event("traced"))',
  ],
  waitForSelector: '#p',
  waitForExpression: 'trace',
  waitForEvent: 'traced',
  delayMs: 20,
  bestEffort: true,
  tableOfContents: true,
  displayHeaderFooter: true,
  headerTemplate: '<p>head</p>',
  firstHeaderTemplate: '<p>first</p>',
  lastHeaderTemplate: '<p>last head</p>',
  firstFooterTemplate: '<p>first foot</p>',
  lastFooterTemplate: '<p>last</p>',
};

/** The same for options with which a browser pauses requests: it is then another one than that of other accounts. */
export const PAUSING: Options = {
  assetHeaders: { 'X-Trace': '1' },
  blockRequests: { urls: ['*.png'], kinds: ['media'] },
  csp: "style-src 'none'",
};

/** The same for options with which the browser reports what the document requests. */
export const REPORTED: Options = {
  waitUntil: 'networkidle',
  report: true,
  failOn: { exception: true },
  conformance: { pdfa: '3a', pdfua: true, onFault: 'report' },
};

/** Options with a hook on the page that do not go together with EVERYTHING, and why. */
export const EXCLUDED: Readonly<Record<string, string>> = {
  baseUrl: 'it changes the text of the document, and is not for a source URL',
  javascriptEnabled: 'its other value turns off the script that EVERYTHING leaves traces with',
};

/** The hooks of an option on the page; what `print` returns is a parameter of one command, and `finish` is after the page. */
export const PAGE_HOOKS = ['needs', 'page', 'load', 'insert', 'wait', 'beforePrint', 'afterPrint'] as const;
