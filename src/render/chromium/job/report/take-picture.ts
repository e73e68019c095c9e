import { within } from '../../../../infra/async/timeout.ts';
import { type Findings, MAX_PICTURE_BYTES } from '../../../report/findings.ts';
import type { ContextLease } from '../../contexts/context-lease.ts';
import type { RenderPage } from '../../page/render-page.ts';

/** Time limit for the picture of a page; without it the report has none. Milliseconds. */
const PICTURE_MS = 1000;
/** Time limit for loading the document anew. Milliseconds. */
const LOAD_MS = 2000;
const PICTURE = { width: 1280, height: 1280, quality: 50, scale: 0.5 };

/**
 * Adds a picture of a document whose render has failed to its findings, or none if that takes too long or the picture is
 * too large. Never rejects.
 *
 * A page without frames cannot be shown. Its document is then one that looks the same whenever it is loaded, and is
 * loaded into a page that is opened for the picture alone: renders that succeed need not pay for frames.
 *
 * @param load puts the document into a page, as the failed render has done.
 */
export async function takePicture(
  lease: ContextLease,
  findings: Findings,
  load: (page: RenderPage) => Promise<void>,
): Promise<void> {
  try {
    if (lease.page.drawsFrames) await capture(lease.page, findings);
    else
      await lease.inPageWithFrames(async (page) => {
        await within(LOAD_MS, 'loading a document', load(page));
        await capture(page, findings);
      });
  } catch {
    // A page that hangs or has ended cannot be shown.
  }
}

async function capture({ dead, session }: RenderPage, findings: Findings): Promise<void> {
  if (dead) return;
  const { width, height, quality, scale } = PICTURE;
  const taken = session.send('Page.captureScreenshot', {
    format: 'jpeg',
    quality,
    clip: { x: 0, y: 0, width, height, scale },
    optimizeForSpeed: true,
  });
  const { data } = await within(PICTURE_MS, 'a picture', taken);
  if (data.length * 0.75 <= MAX_PICTURE_BYTES) findings.picture = { mediaType: 'image/jpeg', data };
  else findings.truncated.add('picture');
}
