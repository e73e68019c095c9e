import assert from 'node:assert/strict';
import type { OptionCases } from './support/cases.ts';

/** Shows which of `values` the feature has, by style alone. */
const shows = (feature: string, values: string) =>
  values
    .split(' ')
    .map(
      (value) =>
        `<style>.${value} { display: none } @media (${feature}: ${value}) { .${value} { display: inline } }</style>` +
        `<i class=${value}>${feature}=${value} </i>`,
    )
    .join('');

export const cases: OptionCases = {
  accepted: [
    {},
    {
      mediaFeatures: {
        colorScheme: 'dark',
        reducedMotion: 'reduce',
        contrast: 'more',
        forcedColors: 'active',
      },
    },
    {
      mediaFeatures: {
        colorScheme: 'light',
        reducedMotion: 'no-preference',
        contrast: 'custom',
        forcedColors: 'none',
      },
    },
  ],
  refused: [
    [{ mediaFeatures: { colorScheme: 'blue' } }, 'mediaFeatures.colorScheme', /must be one of light, dark/],
    [{ mediaFeatures: { hover: 'none' } }, 'mediaFeatures.hover', /is not known/],
    [{ mediaFeatures: 'dark' }, 'mediaFeatures', /must be an object/],
  ],
  effects: [
    {
      title: 'media queries match the values in print',
      html:
        shows('prefers-color-scheme', 'light dark') +
        shows('prefers-reduced-motion', 'reduce no-preference') +
        shows('prefers-contrast', 'more less').replaceAll('no-preference', ''),
      options: { mediaFeatures: { colorScheme: 'dark', reducedMotion: 'reduce', contrast: 'more' } },
      proof: ({ text }) =>
        assert.equal(
          text.replaceAll(/\s+/g, ' '),
          'prefers-color-scheme=dark prefers-reduced-motion=reduce prefers-contrast=more',
        ),
    },
    {
      title: 'media queries match the values together with mediaType',
      html: `<style>b { display: none } @media screen and (prefers-color-scheme: dark) { b { display: inline } }</style><b>both</b><p>x`,
      options: { mediaType: 'screen', mediaFeatures: { colorScheme: 'dark' } },
      proof: ({ text }) => assert.match(text, /both/),
    },
    {
      title: 'matchMedia matches the values in scripts',
      html: `<p id=p></p><script>p.textContent = ['(forced-colors: active)', '(prefers-color-scheme: dark)']
        .filter((query) => matchMedia(query).matches).join(' ')</script>`,
      options: { mediaFeatures: { forcedColors: 'active', colorScheme: 'dark' } },
      proof: ({ text }) => assert.equal(text.trim(), '(forced-colors: active) (prefers-color-scheme: dark)'),
    },
  ],
};
