import { z } from 'zod';
import { defineOption } from './core/option.ts';
import { TAGGED, taggedPrint } from './core/tagged-print.ts';

export const tagged = defineOption('tagged', z.boolean(), {
  stage: 'print',
  documentation:
    'Write a tagged (accessible) PDF. The render takes about a third longer. Headers and footers are then artefacts, which ' +
    'screen readers skip, and their links lead nowhere.',
  default: false,
  ...TAGGED,
  // After `displayHeaderFooter`, and after options that print the document once more.
  order: 4,
  print: (value, given) => (value ? taggedPrint(given) : { generateTaggedPDF: false }),
});
