import { TemplateRenderer } from '../../../src/tenants/templates/engine/liquid.ts';
import type { RenderCall } from '../../../src/tenants/templates/engine/protocol.ts';
import { errorText } from '../../../src/tenants/templates/engine/template-errors.ts';

type Terms = Partial<RenderCall>;

const renderer = new TemplateRenderer();

/** @param data an object, or JSON. */
export function rendered(source: string, data: object | string = {}, terms: Terms = {}) {
  return renderer.render({
    kind: 'render',
    source,
    data: typeof data === 'string' ? data : JSON.stringify(data),
    softTimeoutMs: 5000,
    maxOutputBytes: 1_000_000,
    ...terms,
  });
}

/** The HTML of a template, with no-break spaces as `_`. */
export function html(source: string, data: object | string = {}, terms: Terms = {}): string {
  return rendered(source, data, terms).html.replace(/[\u00a0\u202f]/g, '_');
}

export function errorOf(source: string, data: object | string = {}, terms: Terms = {}): string {
  try {
    rendered(source, data, terms);
  } catch (thrown) {
    return errorText(thrown);
  }
  throw new Error('The template was expected to fail.');
}
