import { ApiError, cardError, conflicting, invalidRequest } from './api-error.ts';
import { listOf, take } from './books.ts';
import {
  addLine,
  attempt,
  cardFor,
  createInvoice,
  finalize,
  intentOf,
  invoiceOf,
  paymentOf,
  settle,
  voidInvoice,
} from './invoice-life.ts';
import { merged, type Params } from './params.ts';
import type * as R from './records.ts';
import { type Call, page, type Route, route } from './route.ts';
import { got } from './routes-catalogue.ts';
import { itemOf, prorations } from './subscription-life.ts';

export const INVOICE_ROUTES: readonly Route[] = [
  route('POST', '/v1/invoices', create),
  route('GET', '/v1/invoices', list),
  route('POST', '/v1/invoices/create_preview', preview),
  route('GET', '/v1/invoices/:id', (call) => got(call, call.books.invoices, 'invoice')),
  route('POST', '/v1/invoices/:id', update),
  route('DELETE', '/v1/invoices/:id', remove),
  route('POST', '/v1/invoices/:id/add_lines', addLines),
  route('GET', '/v1/invoices/:id/lines', lines),
  route('POST', '/v1/invoices/:id/finalize', finalizeInvoice),
  route('POST', '/v1/invoices/:id/pay', pay),
  route('POST', '/v1/invoices/:id/void', (call) => {
    const invoice = got(call, call.books.invoices, 'invoice');
    voidInvoice(call.books, invoice);
    return invoice;
  }),
  route('POST', '/v1/invoices/:id/mark_uncollectible', markUncollectible),
  route('POST', '/v1/invoiceitems', createItem),
];

function create({ books, params }: Call): R.Invoice {
  const customer = params.needed('customer');
  const made = {
    customer,
    currency: params.text('currency') ?? 'usd',
    billing_reason: 'manual',
    auto_advance: params.flag('auto_advance') ?? false,
    metadata: params.metadata() ?? {},
    description: params.text('description') ?? null,
    default_payment_method: params.text('default_payment_method') ?? null,
  };
  params.oneOf('collection_method', ['charge_automatically']);
  // Items of the customer that stand in no invoice: there are none, as each is made for one.
  params.oneOf('pending_invoice_items_behavior', ['exclude', 'include']);
  params.end();
  if (take(books.customers, customer, 'customer').deleted)
    throw invalidRequest(`No such customer: '${customer}'`, 'resource_missing', 'customer');
  return createInvoice(books, made);
}

function list(call: Call) {
  const { params } = call;
  const customer = params.text('customer');
  const subscription = params.text('subscription');
  const status = params.oneOf('status', ['draft', 'open', 'paid', 'void', 'uncollectible']);
  return page(
    call,
    '/v1/invoices',
    call.books.invoices.values(),
    (invoice) =>
      (customer === undefined || invoice.customer === customer) &&
      (status === undefined || invoice.status === status) &&
      (subscription === undefined || invoice.parent?.subscription_details.subscription === subscription),
  );
}

function update({ books, params, ids }: Call): R.Invoice {
  const invoice = take(books.invoices, ids[0]!, 'invoice');
  const metadata = merged(invoice.metadata, params.metadata());
  const advance = params.flag('auto_advance') ?? invoice.auto_advance;
  const method = params.text('default_payment_method') ?? invoice.default_payment_method;
  const description = params.text('description') ?? invoice.description;
  params.end();
  Object.assign(invoice, { metadata, auto_advance: advance, default_payment_method: method, description });
  books.emit('invoice.updated', invoice);
  return invoice;
}

function remove({ books, params, ids }: Call): object {
  const { id, status, object } = take(books.invoices, ids[0]!, 'invoice');
  params.end();
  if (status !== 'draft') throw conflicting('You can only delete draft invoices.', 'invoice_not_editable');
  const invoice = books.invoices.get(id)!;
  books.invoices.delete(id);
  books.emit('invoice.deleted', invoice);
  return { id, object, deleted: true };
}

interface AskedLine {
  readonly amount: number | undefined;
  readonly price: string | undefined;
  readonly quantity: number;
  readonly description: string | undefined;
  readonly metadata: R.Metadata;
}

function readLine(params: Params): AskedLine {
  return {
    amount: params.integer('amount'),
    price: params.within('pricing')?.text('price'),
    quantity: params.integer('quantity') ?? 1,
    description: params.text('description'),
    metadata: params.metadata() ?? {},
  };
}

function putLine({ books }: Call, invoice: R.Invoice, asked: AskedLine): void {
  if (invoice.status !== 'draft')
    throw conflicting('Finalized invoices cannot be changed.', 'invoice_not_editable');
  const price = asked.price === undefined ? undefined : take(books.prices, asked.price, 'price');
  if (price !== undefined && !price.active) throw invalidRequest('The price specified is inactive.');
  if (price?.recurring) throw invalidRequest('The price specified is recurring.');
  if (price === undefined && asked.amount === undefined)
    throw invalidRequest('Missing required param: amount.');
  if (price !== undefined && asked.amount !== undefined)
    throw invalidRequest('You may only specify one of these parameters: amount, pricing.');
  const amount = asked.amount ?? price!.unit_amount * asked.quantity;
  const { description = 'Item', quantity, metadata } = asked;
  addLine(books, invoice, { amount, description, quantity, metadata, ...(price && { price }) });
}

function addLines(call: Call): R.Invoice {
  const invoice = take(call.books.invoices, call.ids[0]!, 'invoice');
  const asked = call.params.each('lines').map(readLine);
  const metadata = merged(invoice.metadata, call.params.metadata('invoice_metadata'));
  call.params.end();
  for (const line of asked) putLine(call, invoice, line);
  invoice.metadata = metadata;
  call.books.emit('invoice.updated', invoice);
  return invoice;
}

function createItem(call: Call): object {
  const { books, params } = call;
  const customer = params.needed('customer');
  const invoiceId = params.needed('invoice');
  const asked = readLine(params);
  params.text('currency');
  params.end();
  const invoice = take(books.invoices, invoiceId, 'invoice');
  if (invoice.customer !== customer) throw invalidRequest('The invoice is not of this customer.');
  putLine(call, invoice, asked);
  books.emit('invoice.updated', invoice);
  const { livemode } = books.row('ii', 'invoiceitem');
  const { amount, currency, description, quantity, metadata } = invoice.lines.data.at(-1)!;
  return {
    id: books.id('ii'),
    object: 'invoiceitem',
    ...{ amount, currency, customer, description, invoice: invoice.id, livemode, metadata, quantity },
    date: books.now,
  };
}

function lines(call: Call) {
  const { lines: found } = take(call.books.invoices, call.ids[0]!, 'invoice');
  const limit = call.params.integer('limit') ?? 10;
  call.params.end();
  return listOf(found.data.slice(0, limit), found.url, found.data.length > limit);
}

function finalizeInvoice({ books, params, ids }: Call): R.Invoice {
  const invoice = take(books.invoices, ids[0]!, 'invoice');
  const advance = params.flag('auto_advance') ?? invoice.auto_advance;
  params.end();
  if (invoice.lines.data.length === 0)
    throw conflicting('Nothing to invoice: the invoice has no lines.', 'invoice_no_customer_line_items');
  invoice.auto_advance = advance;
  finalize(books, invoice);
  return invoice;
}

function pay({ books, params, ids }: Call): R.Invoice {
  const invoice = take(books.invoices, ids[0]!, 'invoice');
  const asked = params.text('payment_method');
  const outside = params.flag('paid_out_of_band') ?? false;
  const present = params.flag('off_session') === false;
  params.end();
  if (invoice.status === 'paid') throw conflicting('Invoice is already paid');
  if (invoice.status !== 'open') throw conflicting(`The invoice is ${invoice.status}, not open.`);
  if (outside) {
    settle(books, invoice, undefined);
    return invoice;
  }
  const method = asked ?? cardFor(books, invoice);
  if (method === undefined || books.paymentMethods.get(method)?.customer !== invoice.customer)
    throw conflicting(
      'There is no `default_payment_method` set on this Customer or Invoice. Please set a default first.',
    );
  const outcome = attempt(books, invoice, method, present);
  if (outcome === 'succeeded') return invoice;
  const intent = intentOf(books, invoice)!;
  const { code, message, decline_code: declineCode } = intent.last_payment_error!;
  if (outcome === 'declined') throw cardError(code, message, structuredClone(intent), declineCode);
  throw new ApiError(
    402,
    {
      type: 'card_error',
      code: 'invoice_payment_intent_requires_action',
      message: 'This payment requires additional user action before it can be completed successfully.',
      payment_intent: structuredClone(intent),
    },
    true,
  );
}

function markUncollectible({ books, params, ids }: Call): R.Invoice {
  const invoice = take(books.invoices, ids[0]!, 'invoice');
  params.end();
  if (invoice.status !== 'open') throw conflicting(`The invoice is ${invoice.status}, not open.`);
  invoice.status = 'uncollectible';
  invoice.status_transitions.marked_uncollectible_at = books.now;
  books.emit('invoice.marked_uncollectible', invoice);
  return invoice;
}

/** What a change of price would cost now. It is no invoice: it is not kept, and has no id of its own. */
function preview({ books, params }: Call): object {
  const id = params.needed('subscription');
  const customer = params.text('customer');
  const details = params.within('subscription_details');
  const asked = details?.each('items').map((item) => ({
    id: item.needed('id'),
    price: item.needed('price'),
    quantity: item.integer('quantity'),
  }));
  const behavior = details?.oneOf('proration_behavior', ['always_invoice', 'create_prorations', 'none']);
  const at = details?.integer('proration_date') ?? books.now;
  params.end();
  const subscription = take(books.subscriptions, id, 'subscription');
  if (customer !== undefined && customer !== subscription.customer)
    throw invalidRequest('The subscription is not of this customer.');
  const item = itemOf(subscription);
  const { current_period_start: start, current_period_end: periodEnds } = item;
  if (at < start || at > periodEnds) throw invalidRequest('proration_date is outside the current period.');
  const price = asked?.[0] === undefined ? item.price : take(books.prices, asked[0].price, 'price');
  if (asked?.[0] !== undefined && asked[0].id !== item.id)
    throw invalidRequest('No such subscription item', 'resource_missing');
  const made = invoiceOf(books, {
    ...{ customer: subscription.customer, currency: subscription.currency, subscription },
    ...{ billing_reason: 'upcoming', auto_advance: true, period: { start, end: periodEnds } },
  });
  const prorated = behavior === 'none' || asked === undefined ? [] : prorations(item, price, at);
  const next = { amount: price.unit_amount, description: 'Next period', price, item };
  for (const line of behavior === 'always_invoice' ? prorated : [...prorated, next])
    addLine(books, made, line);
  made.parent!.subscription_details.subscription_proration_date = at;
  return { ...made, id: `upcoming_${made.id}` };
}

/** The field of an invoice that is present only on request by `expand`. */
export function paymentsOf({ books }: Pick<Call, 'books'>, invoice: R.Invoice): R.ApiList<R.InvoicePayment> {
  const payment = paymentOf(books, invoice);
  return listOf(payment === undefined ? [] : [payment], '/v1/invoice_payments');
}
