import { PlatenError } from '../../infra/errors/registry.ts';
import type { RenderOptions } from '../../render/options/all/render-options.ts';
import { MARGIN_TEMPLATES } from '../../render/options/core/margin-templates.ts';

/** Limit on what the template of a header or footer makes, in bytes. */
export const MAX_MARGIN_BYTES = 64 * 1024;

/** Fills a Liquid template in, or rejects with TEMPLATE_ERROR. */
type Fill = (template: string) => Promise<string>;

/** Fills templates of headers and footers in. @throws PlatenError TEMPLATE_ERROR that names the option; as `fill`. */
export async function fillMargins(options: RenderOptions, fill: Fill): Promise<RenderOptions> {
  const filled = MARGIN_TEMPLATES.filter((name) => /\{[{%]/.test(options[name] ?? '')).map(async (name) => {
    try {
      return [name, await fill(options[name]!)] as const;
    } catch (error) {
      if (!(error instanceof PlatenError) || error.code !== 'TEMPLATE_ERROR') throw error;
      throw new PlatenError(error.code, `options.${name}: ${error.message}`, { cause: error.cause });
    }
  });
  return filled.length === 0 ? options : { ...options, ...Object.fromEntries(await Promise.all(filled)) };
}
