import { conflicting, invalidRequest } from './api-error.ts';
import { listOf, take } from './books.ts';
import type * as R from './records.ts';
import { type Call, page, type Route, route } from './route.ts';
import { got } from './routes-catalogue.ts';

export const CHECKOUT_ROUTES: readonly Route[] = [
  route('POST', '/v1/checkout/sessions', create),
  route('GET', '/v1/checkout/sessions', list),
  route('GET', '/v1/checkout/sessions/:id', (call) => got(call, call.books.sessions, 'checkout session')),
  route('POST', '/v1/checkout/sessions/:id/expire', expire),
  route('GET', '/v1/checkout/sessions/:id/line_items', lineItems),
];

const DAY = 86_400;

function create(call: Call): R.CheckoutSession {
  const { books, params } = call;
  const mode = params.oneOf('mode', ['subscription', 'payment']);
  const customer = params.needed('customer');
  const lines = params.each('line_items').map((line) => ({
    price: line.needed('price'),
    quantity: line.integer('quantity') ?? 1,
  }));
  const row = {
    client_reference_id: params.text('client_reference_id') ?? null,
    metadata: params.metadata() ?? {},
    success_url: params.needed('success_url'),
    cancel_url: params.text('cancel_url') ?? null,
    expires_at: params.integer('expires_at') ?? books.now + DAY,
  };
  const subscriptionData = params.within('subscription_data');
  const data = {
    metadata: subscriptionData?.metadata() ?? {},
    description: subscriptionData?.text('description') ?? null,
  };
  const creation = params.within('invoice_creation');
  const enabled = creation?.flag('enabled') ?? false;
  const invoiceData = creation?.within('invoice_data');
  const invoiceMetadata = invoiceData?.metadata() ?? null;
  invoiceData?.text('description');
  const paymentData = params.within('payment_intent_data');
  paymentData?.metadata();
  paymentData?.text('description');
  paymentData?.oneOf('setup_future_usage', ['off_session', 'on_session']);
  params.oneOf('locale', ['auto', 'en']);
  params.oneOf('billing_address_collection', ['auto', 'required']);
  params.oneOf('payment_method_collection', ['always', 'if_required']);
  params.flag('allow_promotion_codes');
  params.within('automatic_tax')?.flag('enabled');
  params.end();

  if (mode === undefined) throw invalidRequest('Missing required param: mode.', 'parameter_missing', 'mode');
  if (mode === 'payment' && subscriptionData !== undefined)
    throw invalidRequest(
      'You can not pass `subscription_data` in `payment` mode.',
      undefined,
      'subscription_data',
    );
  if (mode === 'subscription' && (creation !== undefined || paymentData !== undefined))
    throw invalidRequest('`invoice_creation` and `payment_intent_data` are of `payment` mode.');
  if (take(books.customers, customer, 'customer').deleted)
    throw invalidRequest(`No such customer: '${customer}'`, 'resource_missing', 'customer');
  if (row.expires_at < books.now + 1_800 || row.expires_at > books.now + DAY)
    throw invalidRequest(
      '`expires_at` must be between 30 minutes and 24 hours from now.',
      undefined,
      'expires_at',
    );
  const prices = lines.map(({ price }) => take(books.prices, price, 'price'));
  if (prices.length === 0) throw invalidRequest('Missing required param: line_items.', 'parameter_missing');
  if (prices.some(({ active }) => !active)) throw invalidRequest('The price specified is inactive.');
  if (prices.some(({ recurring }) => (recurring !== null) !== (mode === 'subscription')))
    throw invalidRequest(`The price is not one for \`${mode}\` mode.`, undefined, 'line_items[0][price]');

  const made = books.row('cs', 'checkout.session');
  const total = prices.reduce((sum, price, index) => sum + price.unit_amount * lines[index]!.quantity, 0);
  const session: R.CheckoutSession = {
    ...made,
    ...row,
    mode,
    status: 'open',
    payment_status: 'unpaid',
    customer,
    amount_total: total,
    currency: prices[0]!.currency,
    invoice: null,
    invoice_creation: mode === 'payment' ? { enabled, invoice_data: { metadata: invoiceMetadata } } : null,
    payment_intent: null,
    subscription: null,
    url: `https://checkout.stripe.test/c/pay/${made.id}`,
  };
  books.sessions.set(session.id, session);
  books.sessionLines.set(session.id, lines);
  books.sessionData.set(session.id, data);
  return session;
}

function list(call: Call) {
  const { params } = call;
  const customer = params.text('customer');
  const status = params.oneOf('status', ['open', 'complete', 'expired']);
  const subscription = params.text('subscription');
  const intent = params.text('payment_intent');
  return page(
    call,
    '/v1/checkout/sessions',
    call.books.sessions.values(),
    (session) =>
      (customer === undefined || session.customer === customer) &&
      (status === undefined || session.status === status) &&
      (subscription === undefined || session.subscription === subscription) &&
      (intent === undefined || session.payment_intent === intent),
  );
}

function expire({ books, params, ids }: Call): R.CheckoutSession {
  const session = take(books.sessions, ids[0]!, 'checkout session');
  params.end();
  if (session.status !== 'open')
    throw conflicting(
      `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${session.status}.`,
    );
  Object.assign(session, { status: 'expired', url: null });
  books.emit('checkout.session.expired', session);
  return session;
}

function lineItems({ books, params, ids }: Call) {
  const { id, currency } = take(books.sessions, ids[0]!, 'checkout session');
  params.integer('limit');
  params.end();
  const rows = (books.sessionLines.get(id) ?? []).map(({ price: priceId, quantity }, index) => {
    const price = books.prices.get(priceId)!;
    const amount_total = price.unit_amount * quantity;
    const description = books.products.get(price.product)?.name ?? null;
    return { id: `li_${id}_${index}`, object: 'item', amount_total, currency, description, price, quantity };
  });
  return listOf(rows, `/v1/checkout/sessions/${id}/line_items`);
}
