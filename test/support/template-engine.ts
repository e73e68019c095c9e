import {
  createTemplateEngine,
  type TemplateEngine,
} from '../../src/tenants/templates/engine/template-engine.ts';

let engine: TemplateEngine | undefined;

/**
 * The one template engine of all tests of this process: to start its own costs a test more than the templates that it
 * renders. It ends after the last test.
 */
export function sharedTemplateEngine(): TemplateEngine {
  engine ??= createTemplateEngine({ processes: 1 });
  return engine;
}

// A root hook: mocha runs it after the last test of the last file.
if (typeof after === 'function') after(async () => await engine?.close());
