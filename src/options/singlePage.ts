import { z } from 'zod';
import { PlatenError } from '../errors/registry.ts';
import { MAX_PAPER_INCHES } from './core/lengths.ts';
import { defineOption, type OptionRule, type PrintStage } from './core/option.ts';

/** CSS pixels per inch. */
const PIXELS = 96;

/** Runs in the document: prevents page breaks, and replaces its own page rules by the margins of the render. */
const UNBROKEN = `(margin) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(\`
    @page { size: auto !important; margin: \${margin} !important; }
    *, *::before, *::after {
      break-before: auto !important; break-after: auto !important; break-inside: auto !important; page: auto !important;
    }\`);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}`;

const excludes = (name: string, without: string): OptionRule => ({
  error: `must not be given with ${name}: leave one of them out, such as ${without}`,
  holds: (options) => options.singlePage !== true || !options[name],
});

export const singlePage = defineOption('singlePage', z.boolean(), {
  stage: 'print',
  documentation:
    'Print one page, as tall as the document is at the width of the paper, 200in at most; a taller one fails the render with ' +
    'DOCUMENT_LIMIT. A document whose height follows from that of the page (100vh) may take two pages.',
  default: false,
  order: 2,
  rules: [
    excludes('pageRanges', '{"singlePage": true}'),
    excludes('preferCSSPageSize', '{"singlePage": true, "width": "100mm", "height": "100mm"}'),
    excludes('landscape', '{"singlePage": true, "width": "297mm", "height": "210mm"}'),
  ],
  // Its style sheet stays in the window, so the page has to leave the document afterwards.
  needs: (value) => ({ navigation: value }),
  async beforePrint(_value, stage) {
    const { settings, page } = stage;
    const { marginTop = 0, marginRight = 0, marginBottom = 0, marginLeft = 0 } = settings;
    const { scale = 1, paperWidth = 0 } = settings;
    await page.runIsolated(
      UNBROKEN,
      [marginTop, marginRight, marginBottom, marginLeft].map((side) => `${side}in`).join(' '),
    );
    const width = ((paperWidth - marginLeft - marginRight) * PIXELS) / scale;
    // One pixel more, since a document exactly as tall as its page would break at its end.
    const height = ((await stage.contentHeight(width)) + 1) * scale;
    setHeight(stage, height / PIXELS + marginTop + marginBottom);
  },
  async afterPrint(_value, stage) {
    const pages = await stage.pages();
    if (pages === 1) return;
    setHeight(stage, (stage.settings.paperHeight ?? 0) * pages);
    await stage.print();
  },
});

/** @param inches height of the paper. */
function setHeight(stage: PrintStage, inches: number): void {
  if (inches > MAX_PAPER_INCHES) {
    throw new PlatenError(
      'DOCUMENT_LIMIT',
      `As a single page the document is ${Math.ceil(inches)}in tall, of ${MAX_PAPER_INCHES}in at most: ` +
        'leave singlePage out, or give a smaller scale.',
    );
  }
  stage.settings = { ...stage.settings, paperHeight: inches };
}
