import { MAX_WINDOW_PIXELS, WINDOW_SIZE } from '../../../options/core/window-size.ts';
import type { RenderPage } from '../../page/render-page.ts';

/** Largest height to which documents are made visible. CSS pixels. */
const MAX_HEIGHT = 60_000;
/** A document that grows by more than this per pixel of window height never fits into one window. */
const MAX_GROWTH = 0.9;

/** The size of the window, and the height of its document. CSS pixels. */
export interface Extent {
  readonly width: number;
  readonly height: number;
  readonly contentHeight: number;
}

/**
 * Scrolls through the document, half a window at a time, and back. Each position is held for one frame: intersection
 * observers run in that same frame, after the callback that has scrolled.
 */
const SCROLL_THROUGH = `async () => {
  const frame = () => Promise.race([
    new Promise((resolve) => requestAnimationFrame(resolve)),
    new Promise((resolve) => setTimeout(resolve, 500)),
  ]);
  const [left, before] = [scrollX, scrollY];
  const root = document.scrollingElement ?? document.documentElement;
  const height = Math.min(root?.scrollHeight ?? 0, ${MAX_HEIGHT});
  for (let top = 0; top < height; top += Math.max(100, innerHeight / 2)) {
    scrollTo({ left, top, behavior: 'instant' });
    await frame();
  }
  scrollTo({ left, top: before, behavior: 'instant' });
  await frame();
}`;

/**
 * Makes visible what waits to be scrolled into view: all at once, in a window as tall as the document, which keeps that
 * size. A document that grows with its window (`height: 100vh`) may never fit into one; it is then scrolled through in
 * a window of the ordinary size.
 *
 * @param paint draws the document in the current window, and measures it.
 */
export async function showAll(page: RenderPage, before: Extent, paint: () => Promise<Extent>): Promise<void> {
  if (isWhole(before)) return;
  const { width } = before;
  const deviceScaleFactor = page.settings.get(WINDOW_SIZE)?.deviceScaleFactor ?? 1;
  const maxHeight = Math.max(
    before.height,
    Math.min(MAX_HEIGHT, Math.floor(MAX_WINDOW_PIXELS / (width * deviceScaleFactor ** 2))),
  );
  const enlarge = async (height: number) => {
    await page.settings.set(WINDOW_SIZE, { width, height: Math.min(maxHeight, height), deviceScaleFactor });
    return await paint();
  };
  const first = await enlarge(before.contentHeight);
  if (isWhole(first) || before.contentHeight > maxHeight) return;
  const growth = (first.contentHeight - before.contentHeight) / (first.height - before.height);
  if (growth < MAX_GROWTH) {
    const rest = first.contentHeight - first.height;
    if (isWhole(await enlarge(Math.ceil(first.height + rest / (1 - growth)) + 1))) return;
  }
  await page.settings.restore(WINDOW_SIZE);
  await paint();
  await page.runIsolated(SCROLL_THROUGH);
  await paint();
}

function isWhole({ height, contentHeight }: Extent): boolean {
  return contentHeight <= height;
}
