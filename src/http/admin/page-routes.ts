import { z } from 'zod';
import { PROBLEM_KINDS } from '../../admin/billing.ts';
import { ERROR_CODES, type JobFilter } from '../../admin/jobs.ts';
import { MESSAGE_STATES } from '../../admin/messages.ts';
import { ERRORS } from '../../infra/errors/registry.ts';
import { type AdminDeps, defineRoute, paging } from './common.ts';
import { type Html, html } from './html.ts';
import { framed } from './page-frame.ts';
import { act, nextPage, tableOf } from './page-tables.ts';

const page = { 200: { description: 'A page.', contentType: 'text/html; charset=utf-8' } } as const;
const common = { summary: 'A page', responses: page } as const;
const LIMIT = 50;
/** An empty field of a form is one that was not filled in. */
const given = (text: string) => (text === '' ? undefined : text);
const field = z.string().max(400).transform(given).optional();
const cursor = paging.cursor;

const queue = defineRoute('GET /admin', common).handledBy(async (_request, { admin }: AdminDeps) => {
  const { pools, accounts, totalAccounts } = await admin().queues(LIMIT);
  const counts = ({ interactive, bulk }: { interactive: number; bulk: number }) => `${interactive} + ${bulk}`;
  return framed(
    '',
    html`<p>Interactive and bulk jobs are counted apart. ${totalAccounts} accounts have jobs.</p>
${tableOf(
  'Pools',
  ['Pool', 'Waiting', 'Dispatched', 'Running', 'Oldest dispatched', 'Workers', 'Slots in use'],
  pools.map((pool) => [
    ...[pool.pool, pool.waiting, counts(pool.dispatched), counts(pool.running), pool.oldestDispatchedAt],
    ...[pool.workers, `${pool.busy} of ${pool.slots}`],
  ]),
)}
${tableOf(
  'Accounts with jobs',
  ['Account', 'Pool', 'Plan slots', 'Waiting', 'Retries', 'Oldest', 'Why it waits'],
  accounts.map((account) => [
    ...[
      account.email ?? account.accountId,
      account.pool,
      `${account.inFlight} of ${account.concurrentRenders}`,
    ],
    ...[counts(account.waiting), account.retries, account.oldestWaitingAt, account.reasons.join(', ')],
  ]),
)}`,
  );
});

const accounts = defineRoute('GET /admin/accounts', {
  ...common,
  query: z.strictObject({ search: field, cursor }),
}).handledBy(async ({ query }, { admin }: AdminDeps) => {
  const { search } = query;
  const found = await admin().accounts.list({ search }, { cursor: query.cursor, limit: LIMIT });
  return framed(
    'accounts',
    html`<form><label>Address or id <input name="search" value="${search}"></label><button>Search</button></form>
${tableOf(
  'Accounts',
  ['Address', 'Id', 'Plan', 'Requests in 24 h', 'Failed', 'Suspended', 'Act'],
  found.rows.map(({ id, email, plan, lastDay, suspendedAt, deletingSince }) => [
    ...[email, id, plan, lastDay.requests, lastDay.failed, suspendedAt],
    deletingSince === null
      ? html`${
          suspendedAt === null
            ? suspendForm(id, email ?? id)
            : act('Resume', email ?? id, `accounts/${id}/resume`)
        }${deleteForm(id, email ?? id)}`
      : `is being deleted since ${deletingSince}`,
  ]),
)}
${nextPage('accounts', { search }, found.cursor)}`,
  );
});

function suspendForm(id: string, name: string): Html {
  return html`<form method="post" action="/admin/act/accounts/${id}/suspend">
<label>Reason <input name="reason" required maxlength="500"></label>
<button aria-label="Suspend ${name}">Suspend</button></form>`;
}

/** The address has to be typed, because nothing brings the account back. */
function deleteForm(id: string, name: string): Html {
  return html`<details><summary>Delete</summary><form method="post" action="/admin/act/accounts/${id}/delete">
<label>Address or id, to confirm <input name="confirm" required maxlength="320" autocomplete="off"></label>
<button aria-label="Delete for good ${name}">Delete for good</button></form></details>`;
}

const workers = defineRoute('GET /admin/workers', common).handledBy(
  async (_request, { admin }: AdminDeps) => {
    const rows = await admin().workers.list();
    return framed(
      'workers',
      tableOf(
        'Workers',
        ['Worker', 'Pool', 'State', 'Slots in use', 'Browser', 'Renders', 'Act'],
        rows.map(({ id, pool, state, draining, slots, busy, browser, jobs }) => [
          ...[id, pool, draining ? `${state}, draining` : state, `${busy} of ${slots ?? '?'}`, browser],
          jobs.map((job) => `${job.id} since ${job.startedAt}`).join(', '),
          state === 'unregistered'
            ? null
            : draining
              ? act('Resume', id, `workers/${encodeURIComponent(id)}/resume`)
              : act('Drain', id, `workers/${encodeURIComponent(id)}/drain`),
        ]),
      ),
    );
  },
);

const jobs = defineRoute('GET /admin/jobs', {
  ...common,
  query: z.strictObject({
    state: z.enum(['failed', 'waiting', 'running']).default('failed'),
    errorCode: z.union([z.literal('').transform(() => undefined), z.enum(ERROR_CODES)]).optional(),
    accountId: field,
    cursor,
  }),
}).handledBy(async ({ query }, { admin }: AdminDeps) => {
  const { cursor: from, ...filter } = query;
  const found = await admin().jobs.list(filter as JobFilter, { cursor: from, limit: LIMIT });
  const isFailed = query.state === 'failed';
  const choice = (value: string, chosen: string | undefined) =>
    html`<option${value === chosen ? html` selected` : ''}>${value}</option>`;
  const fields = { state: query.state, errorCode: query.errorCode, accountId: query.accountId };
  return framed(
    'jobs',
    html`<form><label>State <select name="state">${['failed', 'waiting', 'running'].map((state) => choice(state, query.state))}</select></label>
<label>Error code <select name="errorCode"><option></option>${Object.keys(ERRORS).map((code) => choice(code, query.errorCode))}</select></label>
<label>Account id <input name="accountId" value="${query.accountId}"></label><button>Show</button></form>
<p>Failed jobs are those of the last 24 hours.</p>
${tableOf(
  'Jobs',
  ['Job', 'Account', 'State', 'Error code', 'Attempts', 'Created', 'Ended', 'Act'],
  found.rows.map((job) => [
    ...[job.id, job.accountId, job.state, job.errorCode, `${job.attempts} of ${job.maxAttempts}`],
    ...[job.createdAt, job.completedAt],
    isFailed ? act('Retry', job.id, `jobs/${job.id}/retry`) : act('Cancel', job.id, `jobs/${job.id}/cancel`),
  ]),
)}
${nextPage('jobs', fields, found.cursor)}`,
  );
});

const messages = defineRoute('GET /admin/messages', {
  ...common,
  query: z.strictObject({ state: z.enum(MESSAGE_STATES).default('waiting') }),
}).handledBy(async ({ query }, { admin }: AdminDeps) => {
  const { state } = query;
  const { messages } = admin();
  const [callbacks, mails] = await Promise.all([
    messages.deliveries(state, { limit: LIMIT }),
    messages.mails(state, { limit: LIMIT }),
  ]);
  return framed(
    'messages',
    html`<p><a href="/admin/messages">Waiting</a>, <a href="/admin/messages?state=failed">given up in the last 7 days</a></p>
${tableOf(
  `Callbacks, ${state}`,
  ['Account', 'Event', 'Host', 'Attempts', 'Last response', 'Next attempt', 'Act'],
  callbacks.rows.map(({ id, accountId, event, host, attempts, responseStatus, nextAttemptAt }) => [
    ...[accountId, event, host, attempts, responseStatus, nextAttemptAt],
    act('Retry', `callback ${id}`, `deliveries/${id}/retry`),
  ]),
)}
${tableOf(
  `Mails, ${state}`,
  ['To', 'Kind', 'Attempts', 'Error', 'Next attempt', 'Act'],
  mails.rows.map(({ id, to, kind, attempts, error, nextAttemptAt }) => [
    ...[to, kind, attempts, error, nextAttemptAt],
    act('Retry', `mail ${id}`, `mails/${encodeURIComponent(id)}/retry`),
  ]),
)}`,
  );
});

const billing = defineRoute('GET /admin/billing', common).handledBy(
  async (_request, { admin }: AdminDeps) => {
    const lists = await Promise.all(
      PROBLEM_KINDS.map(async (kind) => ({ kind, ...(await admin().billing.list(kind, { limit: LIMIT })) })),
    );
    return framed(
      'billing',
      html`${lists.map(({ kind, rows }) =>
        tableOf(
          kind,
          ['Id', 'Account', 'State', 'Problems', 'Failures', 'Next attempt', 'Act'],
          rows.map(({ id, accountId, state, problems, failures, nextAttemptAt }) => [
            ...[id, accountId, state, problems.join('; '), failures, nextAttemptAt],
            act('Retry', id, `billing/${kind}/${encodeURIComponent(id)}/retry`),
          ]),
        ),
      )}`,
    );
  },
);

const audit = defineRoute('GET /admin/audit', {
  ...common,
  query: z.strictObject({ cursor }),
}).handledBy(async ({ query }, { admin }: AdminDeps) => {
  const { rows, cursor: next } = await admin().audit({ cursor: query.cursor, limit: LIMIT });
  return framed(
    'audit',
    html`${tableOf(
      'What operators did',
      ['At', 'Operator', 'Action', 'Account', 'Target', 'Details'],
      rows.map(({ at, operator, action, accountId, targetId, details }) => [
        ...[at.toISOString(), operator, action, accountId, targetId],
        Object.entries(details)
          .map(([name, value]) => `${name}: ${value}`)
          .join(', '),
      ]),
    )}
${nextPage('audit', {}, next)}`,
  );
});

export const pageRoutes = [queue, accounts, workers, jobs, messages, billing, audit];
