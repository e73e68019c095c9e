import { LRUCache } from 'lru-cache';
import { printSettings } from '../../../options/all/stages.ts';
import type { Size } from '../../../options/core/lengths.ts';
import { NETWORK_EVENTS } from '../../page/page-settings.ts';
import type { RenderPage } from '../../page/render-page.ts';
import { emptyPage } from '../../page/reset.ts';
import { setContent } from '../document/load-html.ts';
import { printPage } from './print.ts';

const MAX_BYTES = 16 * 1024 * 1024;

/** Accounts whose sheets are kept, and sheets kept per account. */
const MAX_ACCOUNTS = 256;
const MAX_SHEETS = 8;
/** Bytes kept in all, and per account. A larger sheet is printed again for every render. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;
const MAX_KEPT_OF_ACCOUNT = 8 * 1024 * 1024;

type Sheets = LRUCache<string, Uint8Array>;

/**
 * A separate cache of printed sheets for each account, by their content. An account's least recently used sheets are
 * removed first, and so are the least recently used accounts.
 */
export class SheetCache {
  readonly #accounts = new LRUCache<string, Sheets>({
    max: MAX_ACCOUNTS,
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: ({ calculatedSize }) => Math.max(1, calculatedSize),
  });

  get(accountId: string, key: string): Uint8Array | undefined {
    return this.#accounts.get(accountId)?.get(key);
  }

  set(accountId: string, key: string, pdf: Uint8Array): void {
    const sheets = this.#accounts.get(accountId) ?? emptyCache();
    sheets.set(key, pdf);
    // The size of an entry is taken when it is set.
    this.#accounts.delete(accountId);
    this.#accounts.set(accountId, sheets);
  }
}

function emptyCache(): Sheets {
  return new LRUCache({
    max: MAX_SHEETS,
    maxSize: MAX_KEPT_OF_ACCOUNT,
    sizeCalculation: ({ byteLength }) => Math.max(1, byteLength),
  });
}

/** Addresses that a sheet does not load: all but those that hold their content. */
const BLOCKED = ['http://*', 'https://*', 'ws://*', 'wss://*', 'file://*', 'blob:*'];

/**
 * A document of an option, printed alone on a transparent page. It is taken from the cache, or printed in the
 * page of the render that needs it, before that render's document is loaded. It runs no script and loads nothing but
 * pictures and fonts that are in it.
 *
 * @param size in inches.
 */
export async function printSheet(
  page: RenderPage,
  { html, size }: { readonly html: string; readonly size: Size },
  accountId: string,
  cache: SheetCache,
): Promise<Uint8Array> {
  const key = `${size.join()} ${html}`;
  const known = cache.get(accountId, key);
  if (known) return known;
  // Not by a policy of the sheet: its document is that of the render, which would have it too.
  const { session, settings: pageSettings } = page;
  // Nothing is blocked where requests are not reported.
  await Promise.all([
    pageSettings.set(NETWORK_EVENTS, true),
    session.send('Network.setBlockedURLs', { urls: BLOCKED }),
  ]);
  await setContent(page, html);
  // Else pictures would be missing.
  if (html.includes('data:')) await page.lifecycle.until('load');
  const [paperWidth, paperHeight] = size;
  const settings = { ...printSettings({}), paperWidth, paperHeight };
  const pdf = await printPage(page, settings, MAX_BYTES);
  await Promise.all([
    session.send('Network.setBlockedURLs', { urls: [] }),
    pageSettings.restore(NETWORK_EVENTS),
  ]);
  emptyPage(page);
  cache.set(accountId, key, pdf);
  return pdf;
}
