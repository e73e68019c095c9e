import { z } from 'zod';
import { defineOption } from './core/option.ts';

export const report = defineOption('report', z.boolean(), {
  stage: 'job',
  documentation:
    'Keep a report of the render for as long as its output: what the document requested and what became of it, its console and ' +
    'exceptions, fonts, characters that no font has, waits, and warnings in plain words; of a render that fails, too, with a ' +
    'picture of the page. `reportEndpoint` of the job record leads to it.',
  default: false,
  needs: (value) => ({ network: value }),
});
