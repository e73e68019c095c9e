import { z } from 'zod';
import { EMULATED_MEDIA } from './core/emulated-media.ts';
import { defineOption } from './core/option.ts';

/** `print` needs no emulation: scripts then find `screen`, as in a browser. */
export function emulated(mediaType: 'print' | 'screen' | undefined): 'screen' | undefined {
  return mediaType === 'screen' ? mediaType : undefined;
}

export const mediaType = defineOption('mediaType', z.enum(['print', 'screen']), {
  stage: 'page',
  documentation: 'The CSS medium that the document is printed for.',
  default: 'print',
  page: (value) => [{ setting: EMULATED_MEDIA, value: { media: emulated(value), features: [] } }],
});
