import { MARGIN_TEMPLATES } from '../../../options/core/margin-templates.ts';
import { given, type RenderOptions } from '../../../options/core/render-options.ts';
import { displayHeaderFooter } from '../../../options/displayHeaderFooter.ts';
import type { JobDocument } from '../document/job-document.ts';
import { fillUrl } from './document-url.ts';
import { MarginMarkup } from './margin-markup.ts';

/** The options of a render, with the templates of headers and footers as they are printed. */
export function prepareMargins(options: RenderOptions, document: JobDocument): RenderOptions {
  if (!given(options)(displayHeaderFooter)) return options;
  const prepared: Record<string, unknown> = {};
  for (const name of MARGIN_TEMPLATES) {
    const text = options[name];
    if (!text || !MarginMarkup.isNotable(text)) continue;
    const markup = new MarginMarkup(name, text);
    if (document.kind === 'html') fillUrl(markup, document.settings.baseUrl ?? '');
    prepared[name] = markup.text;
  }
  return { ...options, ...prepared };
}
