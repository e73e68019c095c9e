import { PAPER_INCHES, type RenderOptions, type WatermarkOptions } from '../../jobs/render-options.ts';
import { writeDocument } from '../document/load-html.ts';
import type { RenderPage } from '../page/render-page.ts';
import { emptyPage } from '../page/reset.ts';
import { printPage, printSettings } from './print.ts';

const DEFAULTS = { opacity: 0.15, rotation: 45, color: '#888888' };
/** Of the length that the page offers along the text's direction. */
const FILL = 0.8;
/** Width of a bold sans-serif character, in ems, on the large side of average. */
const CHARACTER_EMS = 0.62;
/** Largest letters, as a part of the page's shorter side. */
const LARGEST = 0.2;
const MAX_STAMP_BYTES = 16 * 1024 * 1024;
/** What CSS colours are made of; anything else could be more than a colour. */
const COLOR = /^[#a-z0-9(),.%/ +-]+$/i;

/**
 * Prints the watermark alone on a transparent square page whose side is the diagonal of the document's format, with the
 * text made to fit into that format: any font, any script.
 */
export async function printStamp(
  page: RenderPage,
  watermark: WatermarkOptions,
  options: RenderOptions,
): Promise<Uint8Array> {
  await page.setScriptEnabled(false);
  const [short, long] = PAPER_INCHES[options.format ?? 'A4'];
  const [width, height] = options.landscape ? [long, short] : [short, long];
  await writeDocument(page, stampHtml(watermark, width, height), false);
  const side = Math.hypot(width, height);
  const settings = { ...printSettings({}), paperWidth: side, paperHeight: side };
  const stamp = await printPage(page, settings, MAX_STAMP_BYTES);
  emptyPage(page);
  return stamp;
}

/** @param width and @param height of the page in inches. */
export function stampHtml(watermark: WatermarkOptions, width: number, height: number): string {
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
