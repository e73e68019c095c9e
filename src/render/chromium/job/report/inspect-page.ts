import { within } from '../../../../infra/async/timeout.ts';
import type { RenderOptions } from '../../../options/all/render-options.ts';
import { EMULATED_MEDIA } from '../../../options/core/emulated-media.ts';
import { WINDOW_SIZE } from '../../../options/core/window-size.ts';
import { MAX_OF_RULE } from '../../../report/observations.ts';
import { mayBeCut, type PrintedPages, shrinkage } from '../../../report/print-facts.ts';
import { SCRIPT } from '../../page/page-settings.ts';
import type { RenderPage } from '../../page/render-page.ts';
import { UNDECODABLE } from './inspect-pictures.ts';
import { type Fact, INSPECT, type Inspection } from './inspect-script.ts';
import { unsupportedInLinked } from './linked-styles.ts';

/** The inspection ends after this time, with what it has seen. Milliseconds. */
const INSPECTION_MS = 400;
/** The page's process may be slow to respond, or its layout to come. Milliseconds. */
const RESPONSE_MS = 3000;
/** Time for the pictures of style sheets to be decoded. Milliseconds. */
const DECODE_MS = 500;
const MAX_ELEMENTS = 20_000;
/** A window of this height, in CSS pixels: fixed elements are measured against it. */
const WINDOW_HEIGHT = 1000;
/** Of a page whose layout is not known: A4 without margins, in CSS pixels. */
const UNKNOWN_WIDTH = 794;

/** Sees nothing: the page cannot be inspected. */
const UNSEEN: Inspection = { facts: [], more: {}, pictures: [], cut: true, linked: false };

/**
 * Inspects the document after it has been printed, in a window of the width that it was printed with. Its scripts run
 * no more, so they cannot change it because of that.
 */
export async function inspectPage(
  page: RenderPage,
  printed: PrintedPages,
  { mediaType, scale, shrinkToFit, displayHeaderFooter, styles: added = [] }: RenderOptions,
  hyphenated: readonly string[],
): Promise<Inspection> {
  const { settings } = page;
  const script = settings.get(SCRIPT);
  const factor = shrinkage(printed, scale);
  const width = factor === undefined ? UNKNOWN_WIDTH : printed.layout!.width;
  const inspecting = async () => {
    await Promise.all([
      settings.set(SCRIPT, false),
      settings.set(EMULATED_MEDIA, {
        ...settings.get(EMULATED_MEDIA),
        media: mediaType === 'screen' ? 'screen' : 'print',
      }),
      settings.set(WINDOW_SIZE, { width: Math.ceil(width), height: WINDOW_HEIGHT, deviceScaleFactor: 1 }),
    ]);
    const inspection = await page.runIsolated<Inspection>(
      INSPECT,
      width,
      mayBeCut(factor) || shrinkToFit === false,
      printed.pages,
      INSPECTION_MS,
      MAX_ELEMENTS,
      MAX_OF_RULE,
      hyphenated,
      // Without headers and footers the printed pages say whether they are blank.
      displayHeaderFooter === true,
      added.join('\n'),
    );
    if (!inspection.linked) return inspection;
    const styles = await unsupportedInLinked(page);
    return {
      ...inspection,
      facts: [...inspection.facts, ...styles.facts],
      cut: inspection.cut || styles.cut,
    };
  };
  try {
    const inspection = await within(RESPONSE_MS, 'an inspection of the page', inspecting());
    return await withPictures(page, inspection);
  } catch {
    return UNSEEN;
  } finally {
    settings.set(SCRIPT, script).catch(() => undefined);
  }
}

/** Adds a fact for each picture of a style sheet or drawing that cannot be decoded. */
async function withPictures(page: RenderPage, inspection: Inspection): Promise<Inspection> {
  const { pictures, facts } = inspection;
  if (pictures.length === 0) return inspection;
  const addresses = pictures.map(([, address]) => address);
  try {
    const decoding = page.runIsolated<boolean[]>(UNDECODABLE, addresses);
    const fails = await within(DECODE_MS, 'pictures', decoding);
    const found = pictures.filter((_, i) => fails[i]).slice(0, MAX_OF_RULE);
    const undecodable = found.map(([selector, name]): Fact => {
      return { kind: 'undecodable', selector, name: name.slice(0, 300), numbers: [] };
    });
    return { ...inspection, facts: [...facts, ...undecodable] };
  } catch {
    return { ...inspection, cut: true };
  }
}
