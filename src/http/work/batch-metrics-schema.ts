import { z } from 'zod';

const count = z.int().min(0);
const percent = z.number().min(0).max(100);

export const batchMetricsSchema = z
  .strictObject({
    queueDepth: count.describe('Items of active batches that wait for a plan slot.'),
    activeBatches: count,
    queuedBatches: count,
    processingBatches: count,
    completionRatePercent: percent.describe(
      'Share of the ended batches that were not cancelled, in percent.',
    ),
    itemSuccessRatePercent: percent,
    itemEligibleCount: count.describe('Items that completed or failed, without cancelled ones.'),
    webhookSuccessRatePercent: percent,
    webhookEligibleCount: count.describe('Batches whose callback was delivered, or failed for good.'),
    webhookDeliveredCount: count,
    averageItemsPerBatch: z.number().min(0),
    averageBatchProcessingTimeMs: z
      .number()
      .min(0)
      .describe('From the start of the first item to the end of the last.'),
    commonFailureReasons: z
      .array(z.strictObject({ code: z.string(), count }))
      .describe('The errors of items, most frequent first. All time-outs are `TIMEOUT`.'),
    lookbackDays: count,
    generatedAt: z.iso.datetime(),
  })
  .meta({ id: 'BatchMetrics' });
