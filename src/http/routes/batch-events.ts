import { z } from 'zod';
import { hasFinished } from '../../batches/batch.ts';
import { estimatedCompletion, progressOf, statusOf } from '../../batches/batch-record.ts';
import type { BatchView } from '../../batches/batch-service.ts';
import type { ApiParts } from '../api-parts.ts';
import { defineRoute } from '../route.ts';

const events = defineRoute({
  method: 'get',
  path: '/v1/pdf/batch/:id/events',
  summary: 'Follow a batch',
  description:
    'Server-sent events: `progress` whenever an item has ended, and one `end`, after which the stream closes. Each says how the batch stands; `Last-Event-ID` leaves out what was seen.',
  tags: ['Batches'],
  auth: 'apiKey',
  params: z.strictObject({ id: z.uuid().toLowerCase() }),
  headers: z.object({
    'Last-Event-ID': z.string().max(64).optional().describe('The last event that was seen.'),
  }),
  responses: { 200: { description: 'The events.', contentType: 'text/event-stream' } },
  errors: ['NOT_FOUND', 'TOO_MANY_WAITING'],
}).handledBy(async ({ params, headers, caller, aboutJob }, parts: ApiParts) => {
  aboutJob(params.id);
  await parts.batches.get(caller, params.id);
  const stream = parts.batchWatch.follow({
    accountId: caller.accountId,
    lastEventId: headers['Last-Event-ID'],
    look: async () => {
      const view = await parts.batches.view(caller, params.id);
      return { ...eventOf(view, parts.clock.now()), last: hasFinished(view.batch) };
    },
  });
  return { status: 200, body: { stream }, headers: { 'X-Accel-Buffering': 'no' } };
});

export const batchEventRoutes = [events];

function eventOf(view: BatchView, now: Date) {
  const progress = progressOf(view);
  const status = statusOf(view);
  return {
    // Both only grow.
    id: `${progress.completed + progress.failed}-${status}`,
    data: {
      jobId: view.batch._id,
      status,
      progress,
      estimatedCompletionTime: estimatedCompletion(view.batch, now)?.toISOString() ?? null,
    },
  };
}
