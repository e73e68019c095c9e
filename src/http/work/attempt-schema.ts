import { z } from 'zod';
import { ATTEMPT_OUTCOMES } from '../../work/jobs/attempts.ts';

const time = z.iso.datetime();
const count = z.int().min(0);

/** What a job has failed with. Named, as each object that may be null: generated code reads no null for one without a name. */
export const jobErrorSchema = z
  .strictObject({
    code: z.string().describe('One of the codes that docs/errors.md lists.'),
    message: z.string().describe('What has happened, in words.'),
  })
  .meta({ id: 'Failure' });

const phases = z.strictObject({ page: count, load: count, wait: count, print: count, finish: count }).meta({
  id: 'RenderAttemptPhases',
  description: 'Milliseconds of each phase, in order, up to the one that failed.',
});

/** An attempt to render a job. */
export const attemptSchema = z
  .strictObject({
    number: count,
    startedAt: time,
    endedAt: time.nullable(),
    outcome: z.enum(ATTEMPT_OUTCOMES),
    error: jobErrorSchema.nullable(),
    phases: phases.nullable().describe('Null while it runs, and where they are not known.'),
  })
  .meta({ id: 'RenderAttempt' });
