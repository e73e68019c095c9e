import type { PrintSettings } from '../../../options/core/option.ts';
import { PIXELS } from '../../../options/core/page-area.ts';

/** How far colour has to reach over the edge of the paper, so that no reader shows a paler last pixel. CSS pixels. */
const OVER = 1 / 3;

/**
 * Enlarges a document by up to a few thousandths, so that an element of the paper's size reaches its edges: Chromium draws
 * elements in whole pixels, and one of 62 mm (234.3 pixels) ends a tenth of a millimetre before them.
 *
 * @returns the same settings for paper with margins, for a document with a scale, and where pixels reach the edges.
 */
export function reachingEdges(settings: PrintSettings): PrintSettings {
  const { paperWidth = 0, paperHeight = 0, scale = 1 } = settings;
  const { marginTop, marginRight, marginBottom, marginLeft } = settings;
  if (scale !== 1 || marginTop || marginRight || marginBottom || marginLeft) return settings;
  const factor = Math.max(...[paperWidth, paperHeight].map(toReach));
  if (factor === 1) return settings;
  // The enlarged document still fits. The paper is trimmed later.
  const larger = { paperWidth: paperWidth * factor, paperHeight: paperHeight * factor };
  return { ...settings, ...larger, scale: factor };
}

function toReach(inches: number): number {
  const exact = inches * PIXELS;
  const drawn = Math.round(exact);
  return drawn < exact - 0.01 ? (exact + OVER) / drawn : 1;
}
