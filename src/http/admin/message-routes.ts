import { z } from 'zod';
import { PROBLEM_KINDS } from '../../admin/billing.ts';
import { MESSAGE_STATES } from '../../admin/messages.ts';
import { answering, paging } from './common.ts';

const params = z.strictObject({ id: z.string().max(300) });
const messages = z.strictObject({ state: z.enum(MESSAGE_STATES).default('waiting'), ...paging });

const deliveries = answering(
  'GET /deliveries',
  {
    summary: 'List callbacks that wait or were given up',
    query: messages,
  },
  ({ query }, admin) => admin.messages.deliveries(query.state, query),
);

const retryDelivery = answering(
  'POST /deliveries/:id/retry',
  { summary: 'Send a callback now', params },
  ({ params }, admin, by) => admin.messages.retryDelivery(params.id, by),
);

const mails = answering(
  'GET /mails',
  { summary: 'List mails that wait or were given up', query: messages },
  ({ query }, admin) => admin.messages.mails(query.state, query),
);

const retryMail = answering(
  'POST /mails/:id/retry',
  { summary: 'Send a mail now', params },
  ({ params }, admin, by) => admin.messages.retryMail(params.id, by),
);

const problems = answering(
  'GET /billing/:kind',
  {
    summary: 'List problems of billing',
    params: z.strictObject({ kind: z.enum(PROBLEM_KINDS) }),
    query: z.strictObject(paging),
  },
  ({ params, query }, admin) => admin.billing.list(params.kind, query),
);

const retryBilling = answering(
  'POST /billing/:kind/:id/retry',
  {
    summary: "Read the payment provider's state again now",
    params: params.extend({ kind: z.enum(PROBLEM_KINDS) }),
  },
  ({ params }, admin, by) => admin.billing.retry(params.kind, params.id, by),
);

export const messageRoutes = [deliveries, retryDelivery, mails, retryMail, problems, retryBilling];
