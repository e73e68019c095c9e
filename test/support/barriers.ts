import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'puppeteer';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** WCAG 2.2, levels A and AA. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** What whoever does not see, or has no mouse, would stumble over on a page, one line each. */
export async function barriersOf(page: Page): Promise<string[]> {
  if (await page.evaluate(() => !('axe' in window))) await page.evaluate(AXE);
  const results = (await page.evaluate(
    (values) =>
      (window as unknown as { axe: { run(options: object): Promise<unknown> } }).axe.run({
        runOnly: { type: 'tag', values },
        iframes: false,
        // What is known of everything that is right takes longer to put together than to find.
        resultTypes: ['violations'],
      }),
    RULES,
  )) as AxeResults;
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
  );
}
