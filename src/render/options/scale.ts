import { z } from 'zod';
import { defineOption } from './core/option.ts';

export const scale = defineOption('scale', z.number().min(0.1).max(2), {
  stage: 'print',
  documentation: 'By how much the document is enlarged on the paper.',
  default: 1,
  print: (value) => ({ scale: value }),
});
