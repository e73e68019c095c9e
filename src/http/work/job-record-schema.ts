import { z } from 'zod';
import { INPUT_MODES } from '../../work/inputs/inputs.ts';
import { JOB_STATUSES } from '../../work/jobs/job-record.ts';
import { jobErrorSchema } from './attempt-schema.ts';
import { uploadSchema } from './upload-fields.ts';

const time = z.iso.datetime();
const count = z.int().min(0);

/** The job status record. */
export const jobRecordSchema = z
  .strictObject({
    success: z.boolean(),
    jobId: z.uuid(),
    status: z.enum(JOB_STATUSES),
    inputMode: z.enum(INPUT_MODES),
    outputMode: z.enum(['binary', 'url']),
    createdAt: time,
    updatedAt: time,
    completedAt: time.nullable(),
    outputAvailable: z.boolean(),
    outputExpiresAt: time.nullable().describe('End of the retention window.'),
    downloadUrlEndpoint: z.string(),
    fileName: z.string(),
    pdfSize: count.describe('Bytes; 0 until completed.'),
    pages: count.describe('0 until completed.'),
    processingTimeMs: count,
    attemptCount: count,
    retryAttempt: count.nullable(),
    maxAttempts: count,
    willRetry: z.boolean(),
    deadLettered: z.boolean().describe('True once the job has failed for good: stop polling.'),
    error: jobErrorSchema.nullable().describe('Can be present while willRetry is true.'),
    reportEndpoint: z
      .string()
      .optional()
      .describe('Where its report is: from its end on, if one was asked for.'),
    upload: uploadSchema.optional().describe('What became of its upload, if one was asked for.'),
  })
  .meta({ id: 'JobRecord' });
