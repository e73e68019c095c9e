import { z } from 'zod';
import { addressSchema } from '../../render/options/core/text-schemas.ts';
import { defineInput } from './input-kind.ts';

/** The usual limit of browsers and proxies. */
const MAX_URL_LENGTH = 8192;

/** The address of a page. */
export const url = defineInput({
  mode: 'url',
  field: 'url',
  fields: {
    url: addressSchema(MAX_URL_LENGTH, ['http:', 'https:'], 'must be an http or https address')
      .optional()
      .describe('Input source: the http or https address of a page.')
      .meta({ format: 'uri' }),
  },
  stored: { url: z.string().optional() },
  sourceOf({ url }, { checkUrl }) {
    checkUrl?.(url);
    return { source: { mode: 'url', url } };
  },
  documentOf: ({ url }) => ({ kind: 'url', url }),
  markupOf: ({ url }) => url,
  withMarkup: (source, url) => ({ ...source, url }),
});
