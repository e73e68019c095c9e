import { setTimeout as pause } from 'node:timers/promises';
import { PlatenError } from '../../infra/errors/registry.ts';
import { needsScript, SCRIPT_RUNS } from './core/needs-script.ts';
import { defineOption } from './core/option.ts';
import { documentSchema } from './core/text-schemas.ts';

const POLL_MS = 50;
/** Most characters of the expression that a message shows. */
const MAX_SHOWN = 200;

export const waitForExpression = defineOption('waitForExpression', documentSchema({ min: 1, max: 2000 }), {
  stage: 'wait',
  documentation:
    'An expression of JavaScript that must be true in the document before it is printed, such as window.ready === true. A ' +
    'promise is awaited. While the expression throws or is not true, it is evaluated again.',
  order: 1,
  rules: [needsScript('waitForExpression')],
  needs: () => SCRIPT_RUNS,
  async wait(expression, { page, end }) {
    const shown = expression.length > MAX_SHOWN ? `${expression.slice(0, MAX_SHOWN)}…` : expression;
    let last = 'has not become true';
    const poll = async () => {
      // The value may be large or cyclic, so only whether it is true leaves the browser.
      const script = `(async () => Boolean(await (\n${expression}\n)))()`;
      while (!end.signal.aborted) {
        const evaluated = await page.runInDocument(script);
        if (evaluated.kind === 'value' && evaluated.value === true) return;
        if (evaluated.kind === 'thrown') {
          if (evaluated.syntax) {
            const message = `"${shown}" is not an expression of JavaScript: ${evaluated.message}.`;
            throw new PlatenError('CONDITION_TIMEOUT', message);
          }
          last = `has thrown to the end: ${evaluated.message}`;
        } else {
          last = 'has not become true';
        }
        await pause(POLL_MS);
      }
    };
    await end.raceAs('CONDITION_TIMEOUT', () => `"${shown}" ${last}.`, poll());
  },
});
