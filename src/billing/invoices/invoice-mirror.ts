import type { Connection } from 'mongoose';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';
import type { InvoiceSnapshot } from '../stripe/provider-snapshot.ts';

/** An invoice as it was read last. */
interface MirroredInvoice extends Omit<InvoiceSnapshot, 'id' | 'subscriptionPeriod'> {
  readonly _id: string;
  readonly accountId: string;
}

export const INVOICE_SORTS = [
  'created_desc',
  'created_asc',
  'amount_paid_desc',
  'amount_paid_asc',
  'number_desc',
  'number_asc',
  'status_desc',
  'status_asc',
] as const;
type InvoiceSort = (typeof INVOICE_SORTS)[number];

interface InvoiceQuery {
  readonly status?: string | undefined;
  /** Part of a number, in either case. */
  readonly search?: string | undefined;
  readonly from?: Date | undefined;
  /** Exclusive. */
  readonly to?: Date | undefined;
  readonly sort: InvoiceSort;
  readonly limit: number;
  readonly offset: number;
}

const FIELDS = {
  created: 'createdAt',
  amount_paid: 'amountPaidCents',
  number: 'number',
  status: 'status',
} as const;

const INVOICES: CollectionSpec = {
  name: 'billing_invoices',
  account: 'accountId',
  indexes: [{ fields: { accountId: 1, createdAt: 1, _id: 1 } }],
  filtersBy: {
    fields: [
      'status',
      'number',
      ...['amountPaidCents', 'number', 'status'].map((field) => `sort ${field}, _id`),
    ],
    reason: 'invoices of one account: a few a month',
  },
};

/** Owns our copy of the invoices, since the provider's lists can be neither sorted nor counted nor skipped. */
export class InvoiceMirror {
  readonly #invoices: Collection<MirroredInvoice>;

  constructor(connection: Connection) {
    this.#invoices = new Collection(connection, INVOICES);
  }

  /** Stores the invoices as they are now. */
  async add(accountId: string, invoices: readonly InvoiceSnapshot[]): Promise<void> {
    await this.#invoices.upsertAll(
      invoices.map(({ id, subscriptionPeriod: _, ...invoice }) => ({
        id,
        update: { $set: { ...invoice, accountId } },
      })),
    );
  }

  /** Stores the customer's newest invoices: `invoices` holds all of them down to its oldest. */
  async update(accountId: string, invoices: readonly InvoiceSnapshot[]): Promise<void> {
    await this.add(accountId, invoices);
    const oldest = invoices.map(({ createdAt }) => createdAt.getTime()).sort((a, b) => a - b)[0];
    if (oldest === undefined) return;
    // A draft can be deleted, and is missing from the list then.
    const known = new Set(invoices.map(({ id }) => id));
    const drafts = await this.#invoices.find({
      accountId,
      createdAt: { $gte: new Date(oldest) },
      status: 'draft',
    });
    for (const { _id } of drafts) {
      if (!known.has(_id)) await this.removeDraft(_id);
    }
  }

  /** A draft was deleted. */
  async removeDraft(id: string): Promise<void> {
    await this.#invoices.deleteOne({ _id: id, status: 'draft' });
  }

  /** @returns the ids of invoices that may still change. */
  async unsettled(accountId: string): Promise<string[]> {
    const found = await this.#invoices.find(
      { accountId, status: { $in: ['draft', 'open', 'uncollectible'] } },
      { projection: { _id: 1 } },
    );
    return found.map(({ _id }) => _id);
  }

  async list(
    accountId: string,
    { status, search, from, to, sort, limit, offset }: InvoiceQuery,
  ): Promise<{ total: number; invoices: MirroredInvoice[] }> {
    const filter = {
      accountId,
      ...((from !== undefined || to !== undefined) && {
        createdAt: { ...(from !== undefined && { $gte: from }), ...(to !== undefined && { $lt: to }) },
      }),
      ...(status !== undefined && { status }),
      ...(search !== undefined && { number: new RegExp(escaped(search), 'i') }),
    };
    const direction = sort.endsWith('_desc') ? -1 : 1;
    const field = FIELDS[sort.replace(/_(desc|asc)$/, '') as keyof typeof FIELDS];
    const [total, invoices] = await Promise.all([
      this.#invoices.count(filter),
      this.#invoices.find(filter, {
        sort: { [field]: direction, _id: direction },
        skip: offset,
        limit,
      }),
    ]);
    return { total, invoices };
  }
}

/** Escapes what has a meaning in a regular expression. */
function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\-]/g, '\\$&');
}
