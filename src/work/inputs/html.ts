import { z } from 'zod';
import { documentSchema } from '../../render/options/core/text-schemas.ts';
import { defineInput } from './input-kind.ts';

/** A document as text. */
export const html = defineInput({
  mode: 'html',
  field: 'html',
  fields: { html: documentSchema({ min: 1 }).optional().describe('Input source: an HTML document.') },
  stored: { html: z.string().optional() },
  sourceOf: ({ html }) => ({ source: { mode: 'html', html } }),
  documentOf: ({ html }) => ({ kind: 'html', html }),
  markupOf: ({ html }) => html,
  withMarkup: (source, html) => ({ ...source, html }),
});
