import { PlatenError } from '../../infra/errors/registry.ts';
import { needsScript, SCRIPT_RUNS } from './core/needs-script.ts';
import { defineOption } from './core/option.ts';
import { shortList } from './core/short-list.ts';
import { documentSchema } from './core/text-schemas.ts';

export const scripts = defineOption('scripts', shortList(documentSchema({ max: 100_000 }), 10), {
  stage: 'wait',
  documentation:
    'Scripts that run in the document once it is loaded, one after another, with the rights of its own scripts. If a script ' +
    'throws, the render fails with EXCEPTION_THROWN. The render does not wait for what a script starts: use waitForExpression.',
  order: -1,
  rules: [needsScript('scripts')],
  needs: (value) => (value.length === 0 ? {} : SCRIPT_RUNS),
  async insert(value, { page }) {
    for (const [i, script] of value.entries()) {
      // The script's value is not needed, and may be large.
      const evaluated = await page.runInDocument(`${script}\n;undefined`);
      if (evaluated.kind === 'thrown') {
        throw new PlatenError('EXCEPTION_THROWN', `scripts[${i}] has thrown: ${evaluated.message}`);
      }
    }
  },
});
