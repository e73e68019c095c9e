import { PlatenError } from '../../../errors/registry.ts';
import type { RenderPage } from '../../contexts/page/render-page.ts';

/**
 * Runs in the document. A canvas says of which kind its drawing is only by refusing every other kind. One without any
 * counts as well: its document may have been refused.
 */
const HAS_DRAWING = `() => [...document.querySelectorAll('canvas')].some((canvas) => {
  try {
    return ['webgl2', 'webgl', 'webgpu'].some((kind) => canvas.getContext(kind) !== null);
  } catch {
    // A worker draws in it.
    return true;
  }
})`;

/**
 * Checks that the document has no drawings by WebGL or WebGPU, after the process that drew them has ended. Drawings in
 * its frames are not checked.
 *
 * @throws PlatenError BROWSER_CRASHED, for which the document is not to blame.
 */
export async function requireNoLostDrawing(page: RenderPage): Promise<void> {
  if (!(await page.runIsolated<boolean>(HAS_DRAWING))) return;
  throw new PlatenError('BROWSER_CRASHED', 'The process that draws WebGL has ended.', { shared: true });
}
