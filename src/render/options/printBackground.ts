import { z } from 'zod';
import { defineOption } from './core/option.ts';

export const printBackground = defineOption('printBackground', z.boolean(), {
  stage: 'print',
  documentation: 'Print background colours and images.',
  default: true,
  print: (value) => ({ printBackground: value }),
});
