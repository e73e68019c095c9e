import { setTimeout as pause } from 'node:timers/promises';
import { PlatenError } from '../../infra/errors/registry.ts';
import { defineOption } from './core/option.ts';
import { documentSchema } from './core/text-schemas.ts';

const POLL_MS = 50;
const FIND = `(selector) => {
  try { return document.querySelector(selector) !== null; } catch { return 'invalid'; }
}`;

export const waitForSelector = defineOption('waitForSelector', documentSchema({ min: 1, max: 255 }), {
  stage: 'wait',
  documentation: 'A CSS selector that must be in the document before it is printed.',
  order: 1,
  // Searched for in an isolated world, so that it works in a document whose scripts are off.
  async wait(selector, { page, end }) {
    const search = async () => {
      while (!end.signal.aborted) {
        // While a document is being replaced nothing is found; its successor may contain the element.
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
  },
});
