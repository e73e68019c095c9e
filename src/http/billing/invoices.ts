import { z } from 'zod';
import { INVOICE_SORTS } from '../../billing/invoices/invoice-mirror.ts';
import { displayNameSchema } from '../../render/options/core/text-schemas.ts';
import type { ApiDeps } from '../api-deps.ts';
import { paging } from '../request/paging-schema.ts';
import { routesOf } from '../request/route.ts';
import { invoiceListSchema } from './billing-schema.ts';

const defineRoute = routesOf({ tags: ['Billing'], auth: 'bearer' });

const STATUSES = ['all', 'draft', 'open', 'paid', 'void'] as const;
/** A day in UTC, or a moment. */
const day = z.union([z.iso.date(), z.iso.datetime({ offset: true })], { error: 'must be a date' });

const list = defineRoute('GET /user/invoices', {
  right: 'bill',
  operationId: 'listInvoices',
  summary: 'List the invoices of the account',
  query: z
    .strictObject({
      ...paging,
      status: z.enum(STATUSES).default('all'),
      search: displayNameSchema(100).optional().describe('Part of the number, in upper or lower case.'),
      from: day.optional().describe('Only invoices that were created at this time or later.'),
      to: day.optional().describe('Only invoices that were created before this time.'),
      sort: z.enum(INVOICE_SORTS).default('created_desc'),
    })
    .refine(({ from, to }) => from === undefined || to === undefined || new Date(from) < new Date(to), {
      error: 'must be before to',
      path: ['from'],
    }),
  responses: { 200: { description: 'One page of invoices.', schema: invoiceListSchema } },
}).handledBy(async ({ query, caller }, { billing }: ApiDeps) => {
  const { status, search, from, to, sort, limit, offset } = query;
  const found = await billing.mirror.list(caller.accountId, {
    status: status === 'all' ? undefined : status,
    search,
    from: from === undefined ? undefined : new Date(from),
    to: to === undefined ? undefined : new Date(to),
    sort,
    limit,
    offset,
  });
  const invoices = found.invoices.map((invoice) => ({
    id: invoice._id,
    number: invoice.number,
    status: invoice.status,
    currency: invoice.currency,
    amountDueCents: invoice.amountDueCents,
    amountPaidCents: invoice.amountPaidCents,
    createdAt: invoice.createdAt.toISOString(),
    hostedInvoiceUrl: invoice.hostedInvoiceUrl,
    ...(invoice.pdfUrl !== null && { pdfUrl: invoice.pdfUrl }),
  }));
  return {
    status: 200,
    json: { total: found.total, limit, offset, invoices, statusOptions: [...STATUSES] },
  };
});

export const invoiceRoutes = [list];
