import { z } from 'zod';
import { defineOption } from './core/option.ts';

export const preferCSSPageSize = defineOption('preferCSSPageSize', z.boolean(), {
  stage: 'print',
  documentation: "Let the document's @page size take precedence over format.",
  default: false,
  print: (value) => ({ preferCSSPageSize: value }),
});
