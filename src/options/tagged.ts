import { z } from 'zod';
import { defineOption } from './core/option.ts';

export const tagged = defineOption('tagged', z.boolean(), {
  stage: 'print',
  documentation: 'Write a tagged (accessible) PDF; costs about a quarter of the speed.',
  default: false,
  print: (value) => ({ generateTaggedPDF: value }),
});
