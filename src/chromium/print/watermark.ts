import { LRUCache } from 'lru-cache';
import { PAPER_INCHES, type RenderOptions, type WatermarkOptions } from '../../jobs/render-options.ts';
import { replaceContent } from '../document/load-html.ts';
import type { RenderPage } from '../page/render-page.ts';
import { emptyPage } from '../page/reset.ts';
import type { RenderRequest } from '../renderer.ts';
import { printPage, printSettings } from './print.ts';

const DEFAULTS = { opacity: 0.15, rotation: 45, color: '#888888' };
/** Of the length that the page offers along the text's direction. */
const FILL = 0.8;
/** Width of a bold sans-serif character, in ems, on the large side of average. */
const CHARACTER_EMS = 0.62;
/** Largest letters, as a part of the page's shorter side. */
const LARGEST = 0.2;
const MAX_BYTES = 16 * 1024 * 1024;
/** What CSS colours are made of; anything else could be more than a colour. */
const COLOR = /^[#a-z0-9(),.%/ +-]+$/i;

/** Accounts whose watermarks are kept, and watermarks kept of each. */
const MAX_ACCOUNTS = 256;
const MAX_WATERMARKS = 8;
/** What is kept of all of them, and of each. A larger watermark is printed again for every render. Bytes. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;
const MAX_KEPT_OF_ACCOUNT = 8 * 1024 * 1024;

type Watermarks = LRUCache<string, Uint8Array>;

/**
 * Printed watermarks by what makes them, apart for every account. Those that an account has not used for longest give way
 * to its others, and the accounts that have not used any for longest to other accounts.
 */
export class WatermarkCache {
  readonly #accounts = new LRUCache<string, Watermarks>({
    max: MAX_ACCOUNTS,
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: ({ calculatedSize }) => Math.max(1, calculatedSize),
  });

  get(accountId: string, key: string): Uint8Array | undefined {
    return this.#accounts.get(accountId)?.get(key);
  }

  set(accountId: string, key: string, pdf: Uint8Array): void {
    const watermarks = this.#accounts.get(accountId) ?? emptyCache();
    watermarks.set(key, pdf);
    // An entry is weighed when it comes in.
    this.#accounts.delete(accountId);
    this.#accounts.set(accountId, watermarks);
  }
}

function emptyCache(): Watermarks {
  return new LRUCache({
    max: MAX_WATERMARKS,
    maxSize: MAX_KEPT_OF_ACCOUNT,
    sizeCalculation: ({ byteLength }) => Math.max(1, byteLength),
  });
}

/** The printed watermark that a job asks for, if any: from the cache, or printed in the job's own page. */
export async function watermarkFor(
  page: RenderPage,
  { accountId, options }: Pick<RenderRequest, 'accountId' | 'options'>,
  cache: WatermarkCache,
): Promise<Uint8Array | undefined> {
  const { watermark, format, landscape } = options;
  if (!watermark) return undefined;
  const key = JSON.stringify([watermark, format, landscape]);
  const known = cache.get(accountId, key);
  if (known) return known;
  const pdf = await printWatermark(page, watermark, options);
  cache.set(accountId, key, pdf);
  return pdf;
}

/**
 * Prints the watermark alone on a transparent square page whose side is the diagonal of the document's format, with the
 * text made to fit into that format: any font, any script.
 */
async function printWatermark(
  page: RenderPage,
  watermark: WatermarkOptions,
  options: RenderOptions,
): Promise<Uint8Array> {
  const [short, long] = PAPER_INCHES[options.format ?? 'A4'];
  const [width, height] = options.landscape ? [long, short] : [short, long];
  const source = watermarkHtml(watermark, width, height);
  await replaceContent(page, { source, traits: undefined, milestone: 'DOMContentLoaded' });
  const side = Math.hypot(width, height);
  const settings = { ...printSettings({}), paperWidth: side, paperHeight: side };
  const pdf = await printPage(page, settings, MAX_BYTES);
  emptyPage(page);
  return pdf;
}

/** @param width and @param height of the page in inches. */
export function watermarkHtml(watermark: WatermarkOptions, width: number, height: number): string {
  const { text, opacity = DEFAULTS.opacity, rotation = DEFAULTS.rotation } = watermark;
  const color = watermark.color && COLOR.test(watermark.color) ? watermark.color : DEFAULTS.color;
  const angle = (rotation * Math.PI) / 180;
  const reach = Math.min(width / Math.abs(Math.cos(angle)), height / Math.abs(Math.sin(angle)));
  const size = Math.min(
    (reach * FILL) / ([...text].length * CHARACTER_EMS),
    Math.min(width, height) * LARGEST,
  );
  return `<!doctype html><meta charset="utf-8"><style>
html, body { margin: 0; height: 100%; overflow: hidden }
body { display: flex; align-items: center; justify-content: center }
p { margin: 0; white-space: pre; font: bold ${size.toFixed(4)}in sans-serif; color: ${DEFAULTS.color}; color: ${color};
    opacity: ${opacity}; transform: rotate(${-rotation}deg) }
</style><p>${escapeHtml(text)}</p>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}
