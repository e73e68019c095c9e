import { PlatenError } from '../../../../infra/errors/registry.ts';
import type { RenderPage } from '../../page/render-page.ts';
import type { BrowserServices, RunningServices } from '../../process/browser-services.ts';
import type { JobDocument } from './job-document.ts';

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

/** Whether a document may fetch something, or draw by script. */
export function usesServices({ still, traits }: Pick<JobDocument, 'still' | 'traits'>): boolean {
  return !still || traits === undefined || traits.loads || traits.webFonts;
}

/**
 * Checks that the document has lost nothing with a process that all pages of its browser share: neither what it fetched
 * nor what it drew by WebGL or WebGPU. Drawings in its frames are not checked.
 *
 * @param before the processes that ran when the render began; undefined for a document that uses none.
 * @returns undefined when the page need not be asked.
 * @throws PlatenError BROWSER_CRASHED, for which the document is not to blame.
 */
export function requireServices(
  page: RenderPage,
  services: BrowserServices,
  before: RunningServices | undefined,
): Promise<void> | undefined {
  if (before === undefined) return undefined;
  if (services.hasLost('network', before)) throw lost('fetches');
  return services.hasLost('gpu', before) ? requireNoDrawing(page) : undefined;
}

async function requireNoDrawing(page: RenderPage): Promise<void> {
  if (await page.runIsolated<boolean>(HAS_DRAWING)) throw lost('draws WebGL');
}

function lost(does: string): PlatenError {
  return new PlatenError('BROWSER_CRASHED', `The process that ${does} for all pages has ended.`, {
    shared: true,
  });
}
