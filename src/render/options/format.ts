import { z } from 'zod';
import { PAPER_INCHES } from './core/lengths.ts';
import { defineOption } from './core/option.ts';

export const format = defineOption('format', z.enum(['Letter', 'A4', 'A5', 'A3', 'Legal', 'Tabloid']), {
  stage: 'print',
  documentation: 'Paper format.',
  default: 'A4',
  print(value) {
    const [paperWidth, paperHeight] = PAPER_INCHES[value];
    return { paperWidth, paperHeight };
  },
});
