import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../infra/errors/registry.ts';

/** The body of every failure. */
export const errorBodySchema = z
  .strictObject({
    statusCode: z.int().min(400).max(599),
    error: z.string().describe('Label of the status, such as Bad Request.'),
    message: z.union([z.string(), z.array(z.string())]).describe('Validation failures list several.'),
    code: z
      .enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]])
      .describe('The list is in docs/errors.md.'),
    remedy: z.string().describe('What to do about an error of this code.'),
    docsUrl: z.url().describe('The section of the documentation on the code.'),
    requestId: z.string().describe('As in the header X-Request-Id.'),
    jobId: z.uuid().optional().describe('The job that failed, when there is one.'),
  })
  .meta({ id: 'Error' });
