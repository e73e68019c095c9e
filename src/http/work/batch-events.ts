import { z } from 'zod';
import { hasFinished } from '../../work/batches/batch.ts';
import { estimatedCompletion, progressOf, statusOf } from '../../work/batches/batch-record.ts';
import type { BatchView } from '../../work/batches/batch-service.ts';
import type { ApiDeps } from '../api-deps.ts';
import { routesOf } from '../request/route.ts';

const defineRoute = routesOf({ tags: ['Batches'], auth: 'apiKey' });

const events = defineRoute('GET /v1/pdf/batch/:id/events', {
  operationId: 'streamBatchEvents',
  summary: 'Follow a batch',
  description:
    'Server-sent events: `progress` whenever an item has ended, and one `end`, after which the stream closes. Each event has the state of the batch. `Last-Event-ID` skips the events that were seen. A request with the id of the `end` gets 204, which tells an EventSource not to connect again.',
  params: z.strictObject({ id: z.uuid().toLowerCase() }),
  headers: z.object({
    'Last-Event-ID': z.string().max(64).optional().describe('The last event that was seen.'),
  }),
  responses: {
    200: { description: 'The events.', contentType: 'text/event-stream' },
    204: { description: 'The batch has ended, and the caller has seen its last event.' },
  },
  errors: ['NOT_FOUND', 'TOO_MANY_WAITING'],
}).handledBy(async ({ params, headers, caller, aboutJob }, deps: ApiDeps) => {
  aboutJob(params.id);
  const batch = await deps.batches.get(caller, params.id);
  const lastEventId = headers['Last-Event-ID'];
  if (hasFinished(batch) && lastEventId === eventOf({ batch, inFlight: 0 }, deps.clock.now()).id) {
    return { status: 204 };
  }
  const stream = deps.batchWatch.follow({
    accountId: caller.accountId,
    resource: params.id,
    group: params.id,
    lastEventId,
    check: async () => {
      const view = await deps.batches.view(caller, params.id);
      return { ...eventOf(view, deps.clock.now()), last: hasFinished(view.batch) };
    },
  });
  return { status: 200, body: { stream }, headers: { 'X-Accel-Buffering': 'no' } };
});

export const batchEventRoutes = [events];

function eventOf(view: BatchView, now: Date) {
  const progress = progressOf(view);
  const status = statusOf(view);
  return {
    // Unique, since the count and the status only advance.
    id: `${progress.completed + progress.failed}-${status}`,
    data: {
      jobId: view.batch._id,
      status,
      progress,
      estimatedCompletionTime: estimatedCompletion(view.batch, now)?.toISOString() ?? null,
    },
  };
}
