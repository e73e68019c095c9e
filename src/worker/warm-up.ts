import type { Logger } from '../infra/telemetry/logger.ts';
import type { Renderer } from '../render/renderer.ts';

/**
 * Time limit, in milliseconds. Warming up takes half a second, in which processes start; if it takes longer than the
 * limit, the worker's readiness shows that.
 */
const WARM_UP_MS = 30_000;
const MAX_BYTES = 10 * 1024 * 1024;
/** Belongs to no account, since ids of accounts are UUIDs. */
const NO_ACCOUNT = 'warm-up';

/**
 * Renders a document of no account that uses most features. So everything that is started at the first need already
 * runs when the first job comes: a page with its fonts, printing, and the process that finishes PDFs. Never rejects.
 */
export async function warmUp(renderer: Pick<Renderer, 'render'>, logger: Logger): Promise<void> {
  try {
    const { report } = await renderer.render({
      jobId: NO_ACCOUNT,
      accountId: NO_ACCOUNT,
      source: { kind: 'html', html: '<!doctype html><title>warm-up</title><h1>Platen</h1><p>warm-up</p>' },
      options: { metadata: { title: 'warm-up' }, displayHeaderFooter: true, footerTemplate: '<p>1</p>' },
      deadline: Date.now() + WARM_UP_MS,
      maxOutputBytes: MAX_BYTES,
      signal: new AbortController().signal,
    });
    logger.debug({ phases: report.phases }, 'warmed up');
  } catch (error) {
    logger.warn({ err: error }, 'the first document of all could not be rendered');
  }
}
