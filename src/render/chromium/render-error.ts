import { PlatenError, toPlatenError } from '../../infra/errors/registry.ts';

/** Chromium's errors when the page settings leave no room to print on. */
const NO_ROOM = /content area is empty|invalid print parameters|margin/i;
/** Puppeteer's errors for a session whose page or browser has ended. */
const GONE = /target closed|session closed|connection closed|ConnectionClosed|TargetClose/i;

/** The error as which a render that failed in the browser is reported. */
export function asRenderError(error: unknown): PlatenError {
  if (error instanceof PlatenError || !(error instanceof Error)) return toPlatenError(error, 'RENDER_FAILED');
  if (GONE.test(`${error.name} ${error.message}`)) {
    return new PlatenError('BROWSER_CRASHED', undefined, { cause: error });
  }
  if (NO_ROOM.test(error.message)) {
    return new PlatenError('RENDER_FAILED', 'The margins leave no room to print on.', {
      permanent: true,
      cause: error,
    });
  }
  return new PlatenError('RENDER_FAILED', undefined, { cause: error });
}
