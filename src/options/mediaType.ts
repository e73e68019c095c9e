import { z } from 'zod';
import { defineOption, type PageSetting } from './core/option.ts';

interface EmulatedMedia {
  /** undefined: the browser's own, which is `screen` for scripts and `print` for printing. */
  readonly media: 'print' | 'screen' | undefined;
  readonly features: readonly { readonly name: string; readonly value: string }[];
}

/** One command sets the medium and its features, and resets a value that is omitted. */
export const EMULATED_MEDIA: PageSetting<EmulatedMedia> = {
  name: 'emulated media',
  initial: { media: undefined, features: [] },
  until: 'printed',
  send: (session, { media, features }) =>
    session.send('Emulation.setEmulatedMedia', {
      media: media ?? '',
      features: [...features],
    }),
};

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
