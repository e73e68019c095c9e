import { conflicting, invalidRequest } from './api-error.ts';
import { take } from './books.ts';
import { merged } from './params.ts';
import type * as R from './records.ts';
import { type Call, page, type Route, route } from './route.ts';
import { got } from './routes-catalogue.ts';
import { end } from './subscription-life.ts';

/** Customers, their cards, and what was paid by them. */
export const CUSTOMER_ROUTES: readonly Route[] = [
  route('POST', '/v1/customers', createCustomer),
  route('GET', '/v1/customers', listCustomers),
  route('GET', '/v1/customers/:id', getCustomer),
  route('POST', '/v1/customers/:id', updateCustomer),
  route('DELETE', '/v1/customers/:id', deleteCustomer),
  route('GET', '/v1/customers/:id/payment_methods', (call) => listMethods(call, call.ids[0]!)),
  route('GET', '/v1/payment_methods', (call) => listMethods(call, call.params.text('customer'))),
  route('GET', '/v1/payment_methods/:id', (call) => got(call, call.books.paymentMethods, 'PaymentMethod')),
  route('GET', '/v1/payment_intents', listIntents),
  route('GET', '/v1/payment_intents/:id', (call) => got(call, call.books.intents, 'payment_intent')),
  route('GET', '/v1/charges', listCharges),
  route('GET', '/v1/charges/:id', (call) => got(call, call.books.charges, 'charge')),
  route('GET', '/v1/invoice_payments', listInvoicePayments),
  route('GET', '/v1/invoice_payments/:id', (call) =>
    got(call, call.books.invoicePayments, 'invoice payment'),
  ),
  route('POST', '/v1/refunds', createRefund),
  route('GET', '/v1/refunds', listRefunds),
  route('GET', '/v1/refunds/:id', (call) => got(call, call.books.refunds, 'refund')),
  route('GET', '/v1/disputes', listDisputes),
  route('GET', '/v1/disputes/:id', (call) => got(call, call.books.disputes, 'dispute')),
  route('GET', '/v1/events', listEvents),
  route('GET', '/v1/events/:id', (call) => got(call, call.books.events, 'event')),
  route('GET', '/v1/account', ({ params }) => {
    params.end();
    return { id: 'acct_test', object: 'account', country: 'US', default_currency: 'usd' };
  }),
];

function createCustomer({ books, params }: Call): R.Customer {
  const row = {
    email: params.text('email') ?? null,
    name: params.text('name') ?? null,
    description: params.text('description') ?? null,
    metadata: params.metadata() ?? {},
  };
  params.end();
  const made = books.row('cus', 'customer');
  const customer: R.Customer = {
    ...made,
    ...row,
    balance: 0,
    invoice_prefix: `C${made.id.slice(-7)}`,
    invoice_settings: { default_payment_method: null },
  };
  books.customers.set(customer.id, customer);
  books.emit('customer.created', customer);
  return customer;
}

function listCustomers(call: Call) {
  const email = call.params.text('email');
  return page(
    call,
    '/v1/customers',
    call.books.customers.values(),
    (customer) => !customer.deleted && (email === undefined || customer.email === email),
  );
}

function getCustomer(call: Call): object {
  const customer = got(call, call.books.customers, 'customer');
  return customer.deleted ? { id: customer.id, object: 'customer', deleted: true } : customer;
}

function updateCustomer({ books, params, ids }: Call): R.Customer {
  const customer = take(books.customers, ids[0]!, 'customer');
  const email = params.text('email') ?? customer.email;
  const name = params.text('name') ?? customer.name;
  const description = params.text('description') ?? customer.description;
  const metadata = merged(customer.metadata, params.metadata());
  const balance = params.integer('balance') ?? customer.balance;
  const method = params.within('invoice_settings')?.text('default_payment_method');
  params.end();
  if (customer.deleted) throw invalidRequest(`No such customer: '${customer.id}'`, 'resource_missing', 'id');
  if (method !== undefined && method !== '') {
    const { customer: owner } = take(books.paymentMethods, method, 'PaymentMethod');
    if (owner !== customer.id) throw invalidRequest('The payment method is not attached to this customer.');
    customer.invoice_settings.default_payment_method = method;
  }
  Object.assign(customer, { email, name, description, metadata, balance });
  books.emit('customer.updated', customer);
  return customer;
}

/** Whatever was subscribed is cancelled. */
function deleteCustomer({ books, params, ids }: Call): object {
  const customer = take(books.customers, ids[0]!, 'customer');
  params.end();
  customer.deleted = true;
  for (const subscription of books.subscriptions.values()) {
    const over = ['canceled', 'incomplete_expired'].includes(subscription.status);
    if (subscription.customer === customer.id && !over) end(books, subscription, 'canceled');
  }
  books.emit('customer.deleted', customer);
  return { id: customer.id, object: 'customer', deleted: true };
}

function listMethods(call: Call, customer: string | undefined) {
  call.params.oneOf('type', ['card']);
  return page(
    call,
    '/v1/payment_methods',
    call.books.paymentMethods.values(),
    (method) => method.customer === (customer ?? null),
  );
}

function listIntents(call: Call) {
  const customer = call.params.text('customer');
  return page(
    call,
    '/v1/payment_intents',
    call.books.intents.values(),
    (intent) => customer === undefined || intent.customer === customer,
  );
}

function listCharges(call: Call) {
  const customer = call.params.text('customer');
  const intent = call.params.text('payment_intent');
  return page(
    call,
    '/v1/charges',
    call.books.charges.values(),
    (charge) =>
      (customer === undefined || charge.customer === customer) &&
      (intent === undefined || charge.payment_intent === intent),
  );
}

function listInvoicePayments(call: Call) {
  const invoice = call.params.text('invoice');
  const status = call.params.oneOf('status', ['open', 'paid', 'canceled']);
  const payment = call.params.within('payment');
  const type = payment?.oneOf('type', ['payment_intent', 'charge', 'payment_record']);
  const intent = payment?.text('payment_intent');
  if (intent !== undefined && type !== 'payment_intent')
    throw invalidRequest('payment[type] must be payment_intent.', undefined, 'payment[type]');
  return page(
    call,
    '/v1/invoice_payments',
    call.books.invoicePayments.values(),
    (row) =>
      (invoice === undefined || row.invoice === invoice) &&
      (status === undefined || row.status === status) &&
      (intent === undefined || row.payment.payment_intent === intent),
  );
}

function createRefund({ books, params }: Call): R.Refund {
  const chargeId = params.text('charge');
  const intentId = params.text('payment_intent');
  const asked = params.integer('amount');
  const reason =
    params.oneOf('reason', ['duplicate', 'fraudulent', 'requested_by_customer'] as const) ?? null;
  const metadata = params.metadata() ?? {};
  params.end();
  const named = chargeId ?? (intentId && take(books.intents, intentId, 'payment_intent').latest_charge);
  if (!named) throw invalidRequest('One of the following params should be provided: charge, payment_intent.');
  const charge = take(books.charges, named, 'charge');
  const left = charge.amount - charge.amount_refunded;
  if (left === 0)
    throw conflicting(`Charge ${charge.id} has already been refunded.`, 'charge_already_refunded');
  const amount = asked ?? left;
  if (amount > left)
    throw invalidRequest(`Refund amount is greater than unrefunded amount on charge (${left}).`);
  const { livemode: _, ...row } = books.row('re', 'refund');
  const refund: R.Refund = {
    ...row,
    amount,
    charge: charge.id,
    currency: charge.currency,
    payment_intent: charge.payment_intent,
    status: 'succeeded',
    reason,
    metadata,
  };
  books.refunds.set(refund.id, refund);
  charge.amount_refunded += amount;
  charge.refunded = charge.amount_refunded === charge.amount;
  books.emit('charge.refunded', charge);
  books.emit('refund.created', refund);
  return refund;
}

function listRefunds(call: Call) {
  const charge = call.params.text('charge');
  const intent = call.params.text('payment_intent');
  return page(
    call,
    '/v1/refunds',
    call.books.refunds.values(),
    (refund) =>
      (charge === undefined || refund.charge === charge) &&
      (intent === undefined || refund.payment_intent === intent),
  );
}

function listDisputes(call: Call) {
  const charge = call.params.text('charge');
  const intent = call.params.text('payment_intent');
  return page(
    call,
    '/v1/disputes',
    call.books.disputes.values(),
    (dispute) =>
      (charge === undefined || dispute.charge === charge) &&
      (intent === undefined || dispute.payment_intent === intent),
  );
}

/** Of the last 30 days. */
function listEvents(call: Call) {
  const { books, params } = call;
  const delivered = params.flag('delivery_success');
  const type = params.text('type');
  const types = params.texts('types');
  const since = books.now - 30 * 86_400;
  return page(
    call,
    '/v1/events',
    books.events.values(),
    (event) =>
      event.created >= since &&
      (delivered === undefined || (event.pending_webhooks === 0) === delivered) &&
      (type === undefined || event.type === type) &&
      (types.length === 0 || types.includes(event.type)),
  );
}
