import puppeteer, { type Browser, type Page } from 'puppeteer';
import { findBrowser } from '../../src/render/chromium/process/find-browser.ts';

/** A browser such as people have, for pages that the service serves. */
export async function openWebBrowser(): Promise<Browser> {
  const found = await findBrowser({ warn: () => undefined });
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return puppeteer.launch({
    executablePath: found.path,
    env: { ...process.env, ...found.env },
    headless: 'shell',
    args: ['--disable-quic', '--no-first-run', '--disable-background-networking', ...sandbox],
  });
}

/** Collects in `complaints` a page's errors, and its requests to addresses other than `url`. */
export function watchPage(page: Page, url: string, complaints: string[]): void {
  const note = (what: string) => complaints.push(`${page.url()}: ${what}`);
  page.on('console', (message) => {
    if (['error', 'warn'].includes(message.type())) note(message.text());
  });
  page.on('pageerror', (error) => note(String(error)));
  page.on('request', (request) => {
    if (!/^(?:data|blob|about):/.test(request.url()) && !request.url().startsWith(url))
      note(`asks ${request.url()}`);
  });
}
