import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import { asPrinted, MAX_PAPER_INCHES, MIN_PAPER_INCHES } from './core/lengths.ts';
import { HEIGHT, NOTE, PIN, UNBREAK } from './core/one-page-scripts.ts';
import { defineOption, type OptionRule, type PrintSettings, type PrintStage } from './core/option.ts';
import { PIXELS, pageArea, WINDOW_SIDES } from './core/page-area.ts';
import { MAX_WINDOW_PIXELS } from './core/window-size.ts';
import { viewport } from './viewport.ts';

const excludes = (name: string, without: string): OptionRule => ({
  error: `must not be given with ${name}: leave one of them out, such as ${without}`,
  holds: (options) => options.singlePage !== true || !options[name],
});

export const singlePage = defineOption('singlePage', z.boolean(), {
  stage: 'print',
  documentation:
    'Print one page that is as tall as the document, at the width of the paper. If that is more than 200in, the render fails ' +
    'with DOCUMENT_LIMIT. An element as tall as the window (100vh) is as tall as the paper, or as viewport.',
  default: false,
  order: 2,
  rules: [
    excludes('pageRanges', '{"singlePage": true}'),
    excludes('preferCSSPageSize', '{"singlePage": true, "width": "100mm", "height": "100mm"}'),
  ],
  // What it changes stays in the window, so the page has to leave the document afterwards.
  needs: (value) => ({ navigation: value }),
  async beforePrint(_value, stage) {
    const settings = upright(stage.settings);
    stage.settings = settings;
    const { marginTop = 0, marginRight = 0, marginBottom = 0, marginLeft = 0, scale = 1 } = settings;
    const margins = { Top: marginTop, Right: marginRight, Bottom: marginBottom, Left: marginLeft };
    const area = pageArea(settings, { margins });
    const width = Math.ceil(area.width);
    const window: { height: number; deviceScaleFactor?: number | undefined } = stage.given(viewport) ?? area;
    const { height: wanted, deviceScaleFactor = 1 } = window;
    const most = Math.min(WINDOW_SIDES.max, MAX_WINDOW_PIXELS / (2 * width * deviceScaleFactor ** 2));
    const height = Math.max(1, Math.floor(Math.min(wanted, most)));
    // In one of twice that height, too: what has another size there follows the window.
    await stage.layOut({ width, height: 2 * height });
    await stage.page.runIsolated(NOTE);
    await stage.layOut({ width, height });
    const content = await stage.page.runIsolated<number>(HEIGHT, height);
    await stage.page.runIsolated(PIN);
    await stage.page.runIsolated(
      UNBREAK,
      [marginTop, marginRight, marginBottom, marginLeft].map((side) => `${side}in`).join(' '),
    );
    // One pixel more, since a document exactly as tall as its page would break at its end.
    setHeight(stage, ((content + 1) * scale) / PIXELS + marginTop + marginBottom);
  },
  async afterPrint(_value, stage) {
    const { paperHeight = 0 } = stage.settings;
    // Lines may break elsewhere on paper than in the window, and pictures are as wide as a fraction of a pixel.
    const pages = await stage.pages();
    for (const factor of [LITTLE, pages]) {
      if ((await stage.pages()) === 1) return;
      setHeight(stage, paperHeight * factor);
      await stage.print();
    }
  },
});

/** How much taller a page is made that was a little too low. */
const LITTLE = 1.02;

/** Puts the paper the way in which it is printed, since its height is no longer that of the paper. */
function upright({
  paperWidth = 0,
  paperHeight = 0,
  landscape = false,
  ...rest
}: PrintSettings): PrintSettings {
  const [width, height] = asPrinted([paperWidth, paperHeight], landscape);
  return { ...rest, paperWidth: width, paperHeight: height, landscape: false };
}

/** @param inches height of the paper. */
function setHeight(stage: PrintStage, inches: number): void {
  if (inches > MAX_PAPER_INCHES) {
    throw new PlatenError(
      'DOCUMENT_LIMIT',
      `As a single page the document is ${Math.ceil(inches)}in tall, of ${MAX_PAPER_INCHES}in at most: ` +
        'leave singlePage out, or give a smaller scale.',
    );
  }
  stage.settings = { ...stage.settings, paperHeight: Math.max(MIN_PAPER_INCHES, inches) };
}
