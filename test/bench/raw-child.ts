import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import puppeteer, { type Page } from 'puppeteer';
import { findBrowser } from '../../src/render/chromium/process/find-browser.ts';
import { DOCUMENTS } from './documents.ts';
import { runLoad } from './load.ts';

/*
 * What puppeteer alone does, in a process of its own. Told over IPC what to measure:
 * reuse: pages that are kept and given one document after the other, with nothing cleaned in between;
 * fresh: a new browser context and page for every document.
 */
export interface RawSubmission {
  readonly kind: 'reuse' | 'fresh';
  readonly document: string;
  readonly callers: number;
  readonly durationMs: number;
}

const PDF = { format: 'A4', printBackground: true, preferCSSPageSize: true, tagged: false } as const;

const userDataDir = await mkdtemp(join(tmpdir(), 'platen-bench-'));
const found = await findBrowser({ warn: (message) => console.error(message) });
const browser = await puppeteer.launch({
  executablePath: found.path,
  // Where the bundled browser's fonts are.
  env: { ...process.env, ...found.env },
  userDataDir,
  pipe: true,
  args: [
    '--no-sandbox',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
});
const pages: Page[] = [];

async function print(page: Page, html: string): Promise<void> {
  await page.setContent(html, { waitUntil: 'load' });
  await page.pdf(PDF);
}

process.on('message', async (submission: RawSubmission | 'stop') => {
  if (submission === 'stop') {
    await browser.close();
    await rm(userDataDir, { recursive: true, force: true });
    process.exit(0);
  }
  const { html } = DOCUMENTS.find(({ name }) => name === submission.document)!;
  while (submission.kind === 'reuse' && pages.length < submission.callers)
    pages.push(await browser.newPage());
  const result = await runLoad(submission.callers, submission.durationMs, async (caller) => {
    if (submission.kind === 'reuse') {
      await print(pages[caller]!, html);
      return;
    }
    const context = await browser.createBrowserContext();
    await print(await context.newPage(), html);
    await context.close();
  });
  process.send?.(result);
});
process.on('disconnect', () => process.exit(1));
process.send?.('ready');
