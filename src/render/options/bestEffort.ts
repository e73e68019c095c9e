import { z } from 'zod';
import { defineOption } from './core/option.ts';

export const bestEffort = defineOption('bestEffort', z.boolean(), {
  stage: 'load',
  documentation:
    'Print the document as it is, in place of failing, if it has not been loaded or what is waited for has not come after three ' +
    'quarters of the time (over 20 seconds: 5 seconds before its end). A render whose document has not arrived at all still fails.',
  default: false,
  load: (value) => (value ? { bestEffort: true } : {}),
});
