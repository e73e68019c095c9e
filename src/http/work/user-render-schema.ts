import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../infra/errors/registry.ts';
import { renderOptionsSchema } from '../../render/options/all/render-options.ts';
import { displayNameSchema } from '../../render/options/core/text-schemas.ts';
import { DELIVERY_STATES } from '../../work/callbacks/delivery.ts';
import { SOURCE_FIELDS } from '../../work/inputs/inputs.ts';
import { MOST_EXAMINED } from '../../work/jobs/store/find-jobs.ts';
import { optionalQueryInteger, page } from '../request/paging-schema.ts';
import { attemptSchema } from './attempt-schema.ts';
import { jobRecordSchema } from './job-record-schema.ts';
import { acceptedJob } from './job-response.ts';
import { renderRequestSchema } from './render-request-schema.ts';

const time = z.iso.datetime();
const count = z.int().min(0);
const mode = z.enum(['live', 'test']);

const ofAccount = {
  mode: mode.describe('The mode of the API key. Test renders have a watermark and use no quota.'),
  apiKeyId: z.uuid().nullable().describe('Null if it was requested without a key, from the dashboard.'),
  apiKeyPrefix: z.string().nullable().describe('Null without a key, and of one that is long revoked.'),
  format: z.string().describe('Paper format.'),
  templateId: z.uuid().nullable(),
  retryOf: z.uuid().nullable().describe('The job that it repeats.'),
  queuedMs: count.describe('Milliseconds from acceptance to the first attempt, or until now while it waits.'),
};

/** A render in the account's own list. */
const userRenderSchema = z
  .strictObject({ ...jobRecordSchema.shape, ...ofAccount })
  .meta({ id: 'UserRender' });

export const userRenderListSchema = z
  .strictObject({
    ...page,
    renders: z.array(userRenderSchema),
    searchedTo: time
      .nullable()
      .describe(
        `Where a search has ended after ${MOST_EXAMINED} renders: it goes on with this as \`to\` (with \`created_asc\` as \`from\`). Null if it has looked at all, and of a list that is no search.`,
      ),
  })
  .meta({ id: 'UserRenderList' });

/** Renders that one zip has at most. */
const MOST_ZIPPED = 100;
/** Milliseconds from acceptance to the end. */
const tookMs = () => optionalQueryInteger(0, 7 * 24 * 3_600_000);

/** What `GET /user/renders` searches by, among a bounded number of renders. */
export const renderSearch = {
  search: displayNameSchema(100).optional().describe('Only renders with this in their file name or id.'),
  error: z
    .enum(Object.keys(ERRORS) as [ErrorCode])
    .optional()
    .describe('Only renders that failed with this code.'),
  templateId: z.uuid().toLowerCase().optional().describe('Only renders of this template.'),
  apiKeyId: z
    .union([z.uuid().toLowerCase(), z.literal('none')])
    .optional()
    .describe('Only renders with this key; `none`: those of the dashboard, without a key.'),
  minMs: tookMs().describe(
    'Only renders that took this long or longer, in milliseconds from acceptance to the end.',
  ),
  maxMs: tookMs().describe('Only renders that took this long at most.'),
};

/** The query of `GET /user/renders/zip`. */
export const zippedRenders = z.strictObject({
  ids: z
    .string()
    .max(37 * MOST_ZIPPED)
    .regex(/^[\da-f-]{36}(?:,[\da-f-]{36})*$/i, 'must be ids of renders, with commas in between')
    .transform((text) => [...new Set(text.toLowerCase().split(','))])
    .describe(`Ids of renders, with commas in between: ${MOST_ZIPPED} at most.`),
});

const callback = z
  .strictObject({
    id: z.uuid(),
    url: z.string(),
    status: z.enum(DELIVERY_STATES),
    attemptCount: count,
    responseStatus: z.int().nullable(),
    error: z.string().nullable(),
  })
  .meta({ id: 'UserRenderDetailCallback' });

const queue = z.strictObject({
  ahead: count
    .nullable()
    .describe('Jobs of the account that are rendered before it; null if it does not wait.'),
  inFlight: count.describe('Jobs of the account that hold a slot of its plan.'),
  concurrentRenders: count.describe('Slots that the plan has.'),
});

export const userRenderDetailSchema = z
  .strictObject({
    ...userRenderSchema.shape,
    attempts: z.array(attemptSchema).describe('The first one first.'),
    inputAvailable: z.boolean().describe('Whether the input is still kept.'),
    callback: callback.nullable(),
    queue,
  })
  .meta({ id: 'UserRenderDetail' });

export const renderInputSchema = z
  .strictObject({
    ...SOURCE_FIELDS,
    options: renderOptionsSchema.describe('The values of headers and cookies are masked.'),
  })
  .meta({ id: 'RenderInput' });

/** The body of `POST /user/renders`. */
export const userRenderRequestSchema = z
  .strictObject({
    ...renderRequestSchema.shape,
    mode: mode
      .default('test')
      .describe('`live`, or `test` for a render with a watermark that uses no quota.'),
  })
  .meta({ ...renderRequestSchema.meta(), id: 'UserRenderRequest' });

export const acceptedRenderSchema = acceptedJob
  .extend({ retryOf: z.uuid().nullable() })
  .meta({ id: 'AcceptedUserRender' });

/** The response of `GET /user/queue`. */
export const queueSchema = z
  .strictObject({
    inFlight: count.describe('Jobs that hold a slot of the plan.'),
    waiting: count,
    concurrentRenders: count.describe('Slots that the plan has.'),
    oldestWaitingAt: time.nullable().describe('When the oldest of the jobs that are next was created.'),
  })
  .meta({ id: 'Queue' });
