import { z } from 'zod';
import { defineOption } from './core/option.ts';

export const strictData = defineOption('strictData', z.boolean(), {
  stage: 'job',
  documentation:
    'Whether a template that names what is not in its data fails with TEMPLATE_ERROR, which says the name and the line. Names in ' +
    'conditions and before the filter `default` may be missing. Without it such a name prints nothing, and a report warns of it.',
  default: false,
});
