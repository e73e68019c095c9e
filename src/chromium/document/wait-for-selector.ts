import { setTimeout as pause } from 'node:timers/promises';
import { PlatenError } from '../../errors/registry.ts';
import type { JobEnd } from '../job-end.ts';
import type { RenderPage } from '../page/render-page.ts';

const POLL_MS = 50;
const FIND = `(selector) => {
  try { return document.querySelector(selector) !== null; } catch { return 'invalid'; }
}`;

/**
 * Waits until an element matches. It is looked for from here, so that it works in a document whose scripts are off.
 *
 * @throws PlatenError SELECTOR_TIMEOUT at the job's deadline, or at once when it is no selector.
 */
export async function waitForSelector(page: RenderPage, selector: string, end: JobEnd): Promise<void> {
  const search = async () => {
    while (!end.signal.aborted) {
      // A document that is being replaced has no answer; its successor may.
      const found = await page.runIsolated<boolean | 'invalid'>(FIND, selector).catch(() => false);
      if (found === true) return;
      if (found === 'invalid') {
        throw new PlatenError('SELECTOR_TIMEOUT', `"${selector}" is not a CSS selector.`, {
          permanent: true,
        });
      }
      await pause(POLL_MS);
    }
  };
  await end.raceAs('SELECTOR_TIMEOUT', `"${selector}" did not appear in time.`, search());
}
