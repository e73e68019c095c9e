import { setTimeout as pause } from 'node:timers/promises';
import type { RenderPage } from '../page/render-page.ts';
import { FRAME_EVENT } from '../page/timed-frames.ts';
import type { JobDocument } from './job-document.ts';

/** Documents taller than this are not made visible as a whole. CSS pixels. */
const MAX_HEIGHT = 60_000;

interface Extent {
  readonly width: number;
  readonly height: number;
  readonly contentHeight: number;
}

/**
 * Runs in the document. Two animation frames later what was drawn in requestAnimationFrame is there, and resize and
 * intersection observers have been told of what they watch. A page that draws no frames must not hold the job up.
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
  if (loads) {
    // Fonts are asked for by layout.
    document.documentElement.getBoundingClientRect();
    await document.fonts.ready;
  }
  const root = document.scrollingElement ?? document.documentElement;
  return { width: innerWidth, height: innerHeight, contentHeight: root ? root.scrollHeight : 0 };
}`;

/** For a document without script: only its web fonts can still be on their way, once layout has asked for them. */
const FONTS_READY = `async () => { document.documentElement.getBoundingClientRect(); await document.fonts.ready; }`;

/** Time for the news of another document to catch up with the end of the one before it. */
const NEWS_MS = 20;

/** Waits until what a person would see has been drawn, in the document that is there in the end. */
export async function waitUntilDrawn(page: RenderPage, document: JobDocument): Promise<void> {
  const { still, traits, milestone } = document;
  if (still && traits && !traits.lasting) {
    if (traits.webFonts && milestone !== 'DOMContentLoaded') await waitForFonts(page);
    return;
  }
  const { lifecycle } = page;
  for (;;) {
    const { documents } = lifecycle;
    try {
      await waitForPaint(page, document);
      await lifecycle.pendingNavigation.concluded();
      if (lifecycle.documents === documents) return;
    } catch (error) {
      // The world that was waited in is gone together with its document.
      await pause(NEWS_MS);
      if (lifecycle.documents === documents) throw error;
    }
    await lifecycle.until(milestone);
  }
}

async function waitForPaint(page: RenderPage, { still, traits, milestone }: JobDocument): Promise<void> {
  const waitForLoads = milestone !== 'DOMContentLoaded';
  const timed = !page.drawsFrames;
  const extent = await page.runIsolated<Extent>(PAINT, waitForLoads, traits?.draws ?? !still, timed);
  const observes = traits?.observes ?? !still;
  if (!observes || extent.contentHeight <= extent.height) return;
  // What waits to be scrolled into view is shown by a window that is tall enough for everything.
  await page.setViewport(extent.width, Math.min(MAX_HEIGHT, extent.contentHeight));
  await page.runIsolated(PAINT, waitForLoads, true, timed);
  await page.setViewport();
}

async function waitForFonts(page: RenderPage): Promise<void> {
  await page.runIsolated(FONTS_READY);
}
