import { z } from 'zod';
import { defineOption } from './core/option.ts';

export const strictData = defineOption('strictData', z.boolean(), {
  stage: 'job',
  documentation:
    'Fail with TEMPLATE_ERROR, which has the name and the line, if a template uses a name that is not in its data. Names in ' +
    'conditions, and before the filter `default`, may be missing. If false, such a name prints nothing, and a report warns of it.',
  default: false,
});
