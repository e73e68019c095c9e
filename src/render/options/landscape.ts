import { z } from 'zod';
import { defineOption } from './core/option.ts';

export const landscape = defineOption('landscape', z.boolean(), {
  stage: 'print',
  documentation: 'Turn the paper, so that its long side is horizontal.',
  default: false,
  print: (value) => ({ landscape: value }),
});
