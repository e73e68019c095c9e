import { z } from 'zod';
import { defineOption } from './core/option.ts';

export const scale = defineOption('scale', z.number().min(0.1).max(2), {
  stage: 'print',
  documentation: 'Scale of the print: 2 prints everything twice as large.',
  default: 1,
  print: (value) => ({ scale: value }),
});
