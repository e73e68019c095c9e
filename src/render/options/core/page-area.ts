import type { PrintSettings } from './option.ts';
import { MAX_WINDOW_PIXELS, type WindowSize } from './window-size.ts';

type Side = 'Top' | 'Right' | 'Bottom' | 'Left';

/** What the `@page` rules of a document say about all of its pages. Lengths in inches; undefined: nothing. */
export interface PageRules {
  /** A size has precedence over the paper of the render, whichever paper is printed on. */
  readonly size?: readonly [width: number, height: number] | undefined;
  readonly orientation?: 'portrait' | 'landscape' | undefined;
  /** Each has precedence over the margin of the render. */
  readonly margins: { readonly [Name in Side]?: number };
}

/** CSS pixels per inch. */
export const PIXELS = 96;
const POINTS = 72;

/** CSS pixels; not rounded. */
interface Area {
  readonly width: number;
  readonly height: number;
}

/**
 * The part of a page that a document is laid out in, as Chromium computes it: the paper's sides are rounded up to points,
 * and the margins of the render down to points. What `@page` says is not rounded.
 */
export function pageArea(settings: PrintSettings, rules: PageRules = { margins: {} }): Area {
  const { scale = 1 } = settings;
  const [width, height] = rules.size ?? paperInches(settings, rules.orientation);
  const margin = (side: Side) => {
    const given = settings[`margin${side}`] ?? 0;
    return rules.margins[side] ?? Math.floor(given * POINTS) / POINTS;
  };
  return {
    width: ((width - margin('Left') - margin('Right')) * PIXELS) / scale,
    height: ((height - margin('Top') - margin('Bottom')) * PIXELS) / scale,
  };
}

function paperInches(
  { paperWidth = 0, paperHeight = 0, landscape = false }: PrintSettings,
  orientation: PageRules['orientation'],
): readonly [number, number] {
  const sides = [paperWidth, paperHeight].map((inches) => Math.ceil(inches * POINTS) / POINTS);
  const [width, height] = sides as [number, number];
  const upright = width <= height;
  const turned = orientation === undefined ? landscape : upright === (orientation === 'landscape');
  return turned ? [height, width] : [width, height];
}

/** The window of a browser has this size unless it is told another. An A4 page without margins. */
export const BROWSER_WINDOW: WindowSize = { width: 794, height: 1122, deviceScaleFactor: 1 };

/** Bounds of the sides of a window. CSS pixels. */
export const WINDOW_SIDES = { min: 16, max: 10_000 };

/**
 * The window in which the scripts of a document find as much room as a page has.
 *
 * @returns undefined for the browser's own size.
 */
export function pageWindow(settings: PrintSettings, rules?: PageRules): WindowSize | undefined {
  const area = pageArea(settings, rules);
  const side = (pixels: number, max: number) =>
    Math.max(WINDOW_SIDES.min, Math.min(max, WINDOW_SIDES.max, Math.floor(pixels + TOLERANCE)));
  const width = side(area.width, WINDOW_SIDES.max);
  const height = side(area.height, MAX_WINDOW_PIXELS / width);
  const same = width === BROWSER_WINDOW.width && height === BROWSER_WINDOW.height;
  return same ? undefined : { width, height, deviceScaleFactor: 1 };
}

/** Error of the arithmetic. CSS pixels. */
const TOLERANCE = 0.001;
