import type { PageSetting } from './option.ts';

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
