import puppeteer, { type Browser, type PDFOptions } from 'puppeteer';
import { findBrowser } from '../../../src/render/chromium/process/find-browser.ts';

export interface Printer {
  print(html: string, options?: PDFOptions): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** A plain browser that prints what the tests finish. */
export async function startPrinter(): Promise<Printer> {
  const found = await findBrowser({ browserPath: process.env.PLATEN_CHROMIUM_PATH, warn() {} });
  const browser: Browser = await puppeteer.launch({
    executablePath: found.path,
    env: { ...process.env, ...found.env },
    headless: 'shell',
    pipe: true,
    args: ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-gpu'],
  });
  return {
    async print(html, options = {}) {
      const page = await browser.newPage();
      try {
        await page.setContent(html);
        return await page.pdf({
          format: 'A4',
          printBackground: true,
          tagged: false,
          outline: false,
          timeout: 0,
          ...options,
        });
      } finally {
        await page.close();
      }
    },
    close: () => browser.close(),
  };
}

/** `count` pages, each saying which it is, with text that looks like a PDF's own structure. */
export function pagesOfText(count: number): string {
  const pages = Array.from(
    { length: count },
    (_, index) =>
      `<section><h1>Page ${index + 1}</h1><p>/Type /Pages /Count 3 &gt;&gt; endobj trailer startxref 9 %%EOF</p></section>`,
  );
  return `<title>/Pages 1 0 R</title><style>section + section { break-before: page }</style>${pages.join('')}`;
}

/** A square watermark sheet: a half red square of a tenth of its side in the middle, on nothing. */
export function printWatermark(printer: Printer, body = ''): Promise<Uint8Array> {
  const html = `<style>html, body { margin: 0 } svg { display: block }</style>
    <svg width="1000" height="1000"><rect x="450" y="450" width="100" height="100" fill="#f00" fill-opacity=".5"/>${body}</svg>`;
  return printer.print(html, { format: undefined, width: '1000px', height: '1000px', omitBackground: true });
}
