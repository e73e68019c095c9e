import { z } from 'zod';
import { defineOption } from './core/option.ts';

export const javascriptEnabled = defineOption('javascriptEnabled', z.boolean(), {
  stage: 'load',
  documentation: 'Run the scripts of the document.',
  default: true,
  load: (value) => ({ scriptEnabled: value }),
});
