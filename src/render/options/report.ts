import { z } from 'zod';
import { defineOption } from './core/option.ts';

export const report = defineOption('report', z.boolean(), {
  stage: 'job',
  documentation:
    'Keep a report of the render for as long as its output: requests with their outcomes, console, exceptions, fonts, ' +
    'characters without a font, waits, and warnings in plain words. A failed render has a report, too, with a picture of ' +
    'the page. `reportEndpoint` of the job record has its path. Single renders with a test key and from the dashboard ' +
    'have a report unless this is false; others, and items of batches, have one if this is true.',
  default: false,
  needs: (value) => ({ network: value }),
});
