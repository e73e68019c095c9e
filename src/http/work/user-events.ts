import { z } from 'zod';
import type { ApiDeps } from '../api-deps.ts';
import { routesOf } from '../request/route.ts';

const defineRoute = routesOf({ tags: ['Renders'], auth: 'bearer' });

const events = defineRoute('GET /user/events', {
  right: 'look',
  operationId: 'streamUserEvents',
  summary: 'Stream the events of the account',
  description:
    'Server-sent events: `progress` with `{kind: "jobs", id, status, inFlight, waiting}` within two seconds after a job is accepted, gets its slot or ends; events that come together are combined into one. It is only a hint to fetch the current state. `end` with `{kind: "session", id, status: "ended"}` when the session or token has ended. An account may have ten streams, and browsers open six connections to an origin: a page should keep one, while it is visible.',
  headers: z.object({
    'Last-Event-ID': z.string().max(64).optional().describe('The last event that was seen.'),
  }),
  responses: { 200: { description: 'The events.', contentType: 'text/event-stream' } },
}).handledBy(({ caller, headers }, { accountWatch, bearer, renders }: ApiDeps) => {
  const { accountId, session } = caller;
  const stream = accountWatch.follow({
    accountId,
    resource: session.tokenId,
    group: session.tokenId,
    lastEventId: headers['Last-Event-ID'],
    async check() {
      if (!(await bearer.isOpen(session))) {
        return { id: 'ended', data: { kind: 'session', id: session.tokenId, status: 'ended' }, last: true };
      }
      const { revision, inFlight, waiting } = await renders.activity(accountId);
      const id = String(revision);
      const status = inFlight + waiting > 0 ? 'active' : 'idle';
      return { id, data: { kind: 'jobs', id, status, inFlight, waiting }, last: false };
    },
  });
  return { status: 200, body: { stream }, headers: { 'X-Accel-Buffering': 'no' } };
});

export const userEventRoutes = [events];
