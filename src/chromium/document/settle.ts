import type { RenderPage } from '../page/render-page.ts';
import { FRAME_EVENT } from '../page/timed-frames.ts';

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
const SETTLE = `async (loads, draws, timed) => {
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

/** Waits until what a person would see has been drawn. */
export async function settle(
  page: RenderPage,
  options: { readonly waitForLoads: boolean; readonly draws: boolean; readonly observes: boolean },
): Promise<void> {
  const timed = !page.drawsFrames;
  const extent = await page.runIsolated<Extent>(SETTLE, options.waitForLoads, options.draws, timed);
  if (!options.observes || extent.contentHeight <= extent.height) return;
  // What waits to be scrolled into view is shown by a window that is tall enough for everything.
  await page.setViewport(extent.width, Math.min(MAX_HEIGHT, extent.contentHeight));
  await page.runIsolated(SETTLE, options.waitForLoads, true, timed);
  await page.setViewport();
}

export async function settleFonts(page: RenderPage): Promise<void> {
  await page.runIsolated(FONTS_READY);
}
