import { setTimeout as pause } from 'node:timers/promises';
import { WINDOW_SIZE } from '../../../options/core/window-size.ts';
import type { CancelScope } from '../../cancel-scope.ts';
import type { RenderPage } from '../../page/render-page.ts';
import { FRAME_EVENT } from '../../page/timed-frames.ts';
import { displayForeignFonts, LOAD_FONTS, loadFonts } from './document-fonts.ts';
import { endAnimations } from './end-animations.ts';
import type { JobDocument } from './job-document.ts';
import { type Extent, showAll } from './show-all.ts';

/**
 * Runs in the document. After two animation frames, drawing in requestAnimationFrame is done, and resize and
 * intersection observers have been notified. A page that draws no frames must not delay the job.
 */
const PAINT = `async (loads, draws, timed) => {
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const frame = timed
    ? () => { document.dispatchEvent(new Event('${FRAME_EVENT}')); return sleep(0); }
    : () => Promise.race([new Promise((resolve) => requestAnimationFrame(resolve)), sleep(500)]);
  if (loads) {
    for (const lazy of document.querySelectorAll('img[loading=lazy], iframe[loading=lazy]')) lazy.loading = 'eager';
    const images = [...document.images].filter((image) => !image.complete);
    await Promise.all(images.map((image) => new Promise((resolve) => {
      image.addEventListener('load', resolve, { once: true });
      image.addEventListener('error', resolve, { once: true });
      if (image.complete) resolve();
    })));
  }
  if (draws) {
    await frame();
    await frame();
  }
  const leavesFonts = loads && (await (${LOAD_FONTS})());
  const root = document.scrollingElement ?? document.documentElement;
  return { width: innerWidth, height: innerHeight, contentHeight: root ? root.scrollHeight : 0, leavesFonts };
}`;

interface Painted extends Extent {
  /** See LOAD_FONTS. */
  readonly leavesFonts: boolean;
}

/** Time for the event of a new document to arrive after the end of the one before it, in milliseconds. */
const NEWS_MS = 20;

/**
 * Waits until everything that a person would see has been drawn, in the document that is finally in the page. The
 * window may be taller afterwards.
 *
 * @returns whether it has; false when a script was still drawing after all the time for that.
 */
export async function waitUntilDrawn(
  page: RenderPage,
  document: JobDocument,
  end: CancelScope,
): Promise<boolean> {
  const {
    still,
    traits,
    settings: { milestone },
  } = document;
  if (still && traits && !traits.lasting) {
    // Nothing else of a document without script can still be loading.
    if (traits.webFonts && milestone !== 'DOMContentLoaded') await loadFonts(page);
    return traits.moves ? await endAnimations(page, document, end) : true;
  }
  const { lifecycle } = page;
  for (;;) {
    const { documents } = lifecycle;
    try {
      await waitForPaint(page, document);
      const moves = page.drawsFrames || traits?.draws;
      const ended = moves ? await endAnimations(page, document, end) : true;
      await lifecycle.pendingNavigation.concluded();
      if (lifecycle.documents === documents) return ended;
    } catch (error) {
      // The script world of this wait has ended together with its document.
      await pause(NEWS_MS);
      if (lifecycle.documents === documents) throw error;
    }
    await lifecycle.until(milestone);
  }
}

async function waitForPaint(page: RenderPage, { still, traits, settings }: JobDocument): Promise<void> {
  const waitForLoads = settings.milestone !== 'DOMContentLoaded';
  const timed = !page.drawsFrames;
  const paint = (draws: boolean) => page.runIsolated<Painted>(PAINT, waitForLoads, draws, timed);
  await page.settings.restore(WINDOW_SIZE);
  let painted = await paint(traits?.draws ?? !still);
  if (painted.leavesFonts) {
    await displayForeignFonts(page);
    painted = await paint(false);
  }
  if (traits?.observes ?? !still) await showAll(page, painted, () => paint(true));
}
