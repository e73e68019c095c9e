import { z } from 'zod';
import { defineOption } from './core/option.ts';
import { matches } from './core/text-checks.ts';

export const csp = defineOption(
  'csp',
  z
    .string()
    .max(2000)
    .check(
      matches(
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern rejects control characters
        /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$/,
        'must not hold line breaks or control characters',
      ),
    )
    .overwrite((text) => text.toWellFormed()),
  {
    stage: 'load',
    documentation: 'A Content-Security-Policy that the document is loaded under.',
    // The response of a source URL is paused to add the policy; HTML is served with it.
    needs: (value, kind) => (value === '' ? {} : { navigation: true, dedicatedBrowser: kind === 'url' }),
    load: (value) => (value === '' ? {} : { policy: value }),
  },
);
