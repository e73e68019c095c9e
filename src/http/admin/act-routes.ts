import { z } from 'zod';
import { PROBLEM_KINDS } from '../../admin/billing.ts';
import type { Admin } from '../../admin/open-admin.ts';
import { PlatenError } from '../../infra/errors/registry.ts';
import type { DoneBy } from '../../tenants/audit/audit-log.ts';
import { type AdminDeps, defineRoute, doneBy } from './common.ts';

interface Act {
  readonly id: string;
  readonly fields: URLSearchParams;
  readonly by: DoneBy;
}

/** What the buttons of each page do. */
const ACTS: Readonly<Record<string, (admin: Admin, act: Act) => Promise<unknown>>> = {
  'accounts suspend': ({ accounts }, { id, fields, by }) => accounts.suspend(id, reasonOf(fields), by),
  'accounts resume': ({ accounts }, { id, by }) => accounts.resume(id, by),
  'accounts delete': ({ accounts }, { id, fields, by }) =>
    accounts.delete(id, fields.get('confirm') ?? '', by),
  'workers drain': ({ workers }, { id, by }) => workers.drain(id, true, by),
  'workers resume': ({ workers }, { id, by }) => workers.drain(id, false, by),
  'jobs retry': ({ jobs }, { id, by }) => jobs.retry(id, by),
  'jobs cancel': ({ jobs }, { id, by }) => jobs.cancel(id, by),
  'deliveries retry': ({ messages }, { id, by }) => messages.retryDelivery(id, by),
  'mails retry': ({ messages }, { id, by }) => messages.retryMail(id, by),
};
const PAGE_OF: Readonly<Record<string, string>> = { deliveries: 'messages', mails: 'messages' };
const FORM = { maxBytes: 16 * 1024, description: 'The fields of a form.' };
const back = { 303: { description: 'To the page.', headers: { Location: 'The page.' } } } as const;

const act = defineRoute('POST /admin/act/:what/:id/:act', {
  summary: 'What a button of a page does',
  params: z.strictObject({ what: z.string(), id: z.string().max(300), act: z.string() }),
  rawBody: FORM,
  responses: back,
}).handledBy(async ({ params, rawBody, caller }, { admin }: AdminDeps) => {
  const { what, id, act } = params;
  const name = `${what} ${act}`;
  const run = Object.hasOwn(ACTS, name) ? ACTS[name] : undefined;
  if (run === undefined) throw new PlatenError('NOT_FOUND');
  await run(admin(), { id, fields: new URLSearchParams(rawBody.toString()), by: doneBy(caller) });
  return { status: 303, headers: { Location: `/admin/${PAGE_OF[what] ?? what}` } };
});

const retryBilling = defineRoute('POST /admin/act/billing/:kind/:id/retry', {
  summary: 'What a button of the page about billing does',
  params: z.strictObject({ kind: z.enum(PROBLEM_KINDS), id: z.string().max(300) }),
  rawBody: FORM,
  responses: back,
}).handledBy(async ({ params, caller }, { admin }: AdminDeps) => {
  await admin().billing.retry(params.kind, params.id, doneBy(caller));
  return { status: 303, headers: { Location: '/admin/billing' } };
});

export const actRoutes = [act, retryBilling];

/** @throws PlatenError VALIDATION */
function reasonOf(fields: URLSearchParams): string {
  const reason = fields.get('reason')?.trim() ?? '';
  if (reason.length >= 1 && reason.length <= 500) return reason;
  throw new PlatenError('VALIDATION', 'reason: must have 1 to 500 characters.');
}
