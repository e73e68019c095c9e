import { z } from 'zod';
import { EMULATED_MEDIA } from './core/emulated-media.ts';
import { defineOption } from './core/option.ts';
import { emulated, mediaType } from './mediaType.ts';

const CSS_NAMES = {
  colorScheme: 'prefers-color-scheme',
  reducedMotion: 'prefers-reduced-motion',
  contrast: 'prefers-contrast',
  forcedColors: 'forced-colors',
} as const;

export const mediaFeatures = defineOption(
  'mediaFeatures',
  z
    .strictObject({
      colorScheme: z.enum(['light', 'dark']).describe('What `prefers-color-scheme` finds.'),
      reducedMotion: z.enum(['reduce', 'no-preference']).describe('What `prefers-reduced-motion` finds.'),
      contrast: z
        .enum(['more', 'less', 'custom', 'no-preference'])
        .describe('What `prefers-contrast` finds.'),
      forcedColors: z.enum(['active', 'none']).describe('What `forced-colors` finds.'),
    } satisfies Record<keyof typeof CSS_NAMES, unknown>)
    .partial(),
  {
    stage: 'page',
    documentation:
      'What media queries see: colorScheme (light, dark), reducedMotion (reduce, no-preference), contrast (more, less, ' +
      'custom, no-preference) and forcedColors (active, none).',
    // After `mediaType`, since one setting contains both values.
    order: 1,
    page: (value, given) => [
      {
        setting: EMULATED_MEDIA,
        value: {
          media: emulated(given(mediaType)),
          features: Object.entries(value).flatMap(([name, wanted]) =>
            wanted === undefined ? [] : [{ name: CSS_NAMES[name as keyof typeof CSS_NAMES], value: wanted }],
          ),
        },
      },
    ],
  },
);
