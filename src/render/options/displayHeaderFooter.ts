import { z } from 'zod';
import { defineOption } from './core/option.ts';

export const displayHeaderFooter = defineOption('displayHeaderFooter', z.boolean(), {
  stage: 'print',
  documentation: 'Print headerTemplate and footerTemplate in the margins.',
  default: false,
  print: (value) => ({ displayHeaderFooter: value }),
});
