import { z } from 'zod';
import { defineOption } from './core/option.ts';

export const bestEffort = defineOption('bestEffort', z.boolean(), {
  stage: 'load',
  documentation:
    'Print the document as it is instead of failing, if it is not loaded, or a wait has not ended, after three quarters of the ' +
    'time (with more than 20 seconds: 5 seconds before the deadline). A render whose document has not arrived at all still fails.',
  default: false,
  load: (value) => (value ? { bestEffort: true } : {}),
});
