import { z } from 'zod';
import { defineOption } from './core/option.ts';

/** The plan limits it and the job stores the deadline: see `work/jobs/new-job.ts`. */
export const timeoutMs = defineOption('timeoutMs', z.int().min(1000).max(300_000), {
  stage: 'job',
  documentation:
    'Deadline of the whole render, in milliseconds. Default: 30,000 plus delayMs, limited by the plan.',
});
