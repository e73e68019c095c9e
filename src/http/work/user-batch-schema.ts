import { z } from 'zod';
import { page } from '../request/paging-schema.ts';
import {
  acceptedBatchSchema,
  batchFields,
  batchItemRecordSchema,
  batchRequestSchema,
} from './batch-schema.ts';

/** The body of `POST /user/batches`. */
export const userBatchRequestSchema = z
  .strictObject({
    ...batchRequestSchema.shape,
    mode: z
      .enum(['live', 'test'])
      .default('test')
      .describe('`live`, or `test` for renders with a watermark that use no quota.'),
  })
  .meta({ id: 'UserBatchRequest' });

/** A batch in the account's own list. */
export const userBatchSchema = z
  .strictObject({
    ...batchFields,
    mode: z.enum(['live', 'test']).describe('The mode of the API key.'),
    apiKeyId: z.uuid().nullable().describe('Null if it was requested without a key, from the dashboard.'),
    apiKeyPrefix: z.string().nullable().describe('Null without a key, and of one that is long revoked.'),
    webhookUrl: z.string().nullable(),
  })
  .meta({ id: 'UserBatch' });

export const userBatchListSchema = z
  .strictObject({ ...page, batches: z.array(userBatchSchema) })
  .meta({ id: 'UserBatchList' });

const item = z
  .strictObject({
    ...batchItemRecordSchema.shape,
    jobId: z
      .uuid()
      .nullable()
      .describe('The render of the item; null before it is made, and after it was deleted.'),
  })
  .meta({ id: 'UserBatchItem' });

export const userBatchItemListSchema = z
  .strictObject({ ...page, items: z.array(item) })
  .meta({ id: 'UserBatchItemList' });

export const retriedBatchSchema = z
  .strictObject({ ...acceptedBatchSchema.shape, retryOf: z.uuid() })
  .meta({ id: 'RetriedBatch' });
