import { conflicting, invalidRequest } from './api-error.ts';
import { take } from './books.ts';
import { merged } from './params.ts';
import type * as R from './records.ts';
import { type Call, page, type Route, route } from './route.ts';
import { got } from './routes-catalogue.ts';
import { createSchedule, updateSchedule } from './schedule-life.ts';
import { changePrice, end, itemOf, OVER, releaseSchedule, updated } from './subscription-life.ts';

export const SUBSCRIPTION_ROUTES: readonly Route[] = [
  route('GET', '/v1/subscriptions', list),
  route('GET', '/v1/subscriptions/:id', (call) => got(call, call.books.subscriptions, 'subscription')),
  route('POST', '/v1/subscriptions/:id', update),
  route('DELETE', '/v1/subscriptions/:id', cancel),
  route('POST', '/v1/subscription_schedules', createSchedule),
  route('GET', '/v1/subscription_schedules', listSchedules),
  route('GET', '/v1/subscription_schedules/:id', (call) => got(call, call.books.schedules, 'schedule')),
  route('POST', '/v1/subscription_schedules/:id', updateSchedule),
  route('POST', '/v1/subscription_schedules/:id/release', (call) => endSchedule(call, 'released')),
  route('POST', '/v1/subscription_schedules/:id/cancel', (call) => endSchedule(call, 'canceled')),
];

function list(call: Call) {
  const { params } = call;
  const customer = params.text('customer');
  const price = params.text('price');
  const status = params.oneOf('status', [
    ...(['all', 'ended', 'active', 'trialing', 'past_due', 'unpaid', 'paused', 'incomplete'] as const),
    ...(['incomplete_expired', 'canceled'] as const),
  ]);
  return page(call, '/v1/subscriptions', call.books.subscriptions.values(), (subscription) => {
    if (customer !== undefined && subscription.customer !== customer) return false;
    if (price !== undefined && itemOf(subscription).price.id !== price) return false;
    // Cancelled ones are left out by default.
    if (status === undefined) return subscription.status !== 'canceled';
    if (status === 'ended') return OVER.includes(subscription.status);
    return status === 'all' || subscription.status === status;
  });
}

function update(call: Call): R.Subscription {
  const { books, params, ids } = call;
  const subscription = take(books.subscriptions, ids[0]!, 'subscription');
  const names = params.names;
  const items = params.each('items').map((item) => ({
    id: item.text('id'),
    price: item.text('price'),
    quantity: item.integer('quantity'),
    deleted: item.flag('deleted'),
  }));
  const behavior = params.oneOf('payment_behavior', [
    ...(['allow_incomplete', 'default_incomplete', 'error_if_incomplete', 'pending_if_incomplete'] as const),
  ]);
  const proration = params.oneOf('proration_behavior', ['always_invoice', 'create_prorations', 'none']);
  const at = params.integer('proration_date');
  const atEnd = params.flag('cancel_at_period_end');
  const cancelAt = params.text('cancel_at');
  const metadata = params.metadata();
  const method = params.text('default_payment_method');
  const pause = params.has('pause_collection');
  const paused = params.within('pause_collection')?.oneOf('behavior', ['keep_as_draft', 'void']);
  const details = params.within('cancellation_details');
  details?.text('comment');
  details?.text('feedback');
  params.flag('off_session');
  params.end();
  if (OVER.includes(subscription.status))
    throw conflicting('A canceled subscription can only update its cancellation_details and metadata.');
  const ifPaid = behavior === 'pending_if_incomplete';
  if (ifPaid) rejectUnlessAllowed(names);
  if (subscription.schedule !== null && (atEnd !== undefined || cancelAt !== undefined || items.length > 0))
    throw conflicting(
      `The subscription is managed by the subscription schedule \`${subscription.schedule}\`, and updating any cancelation behavior or item directly is not allowed. Please update the schedule instead.`,
    );
  if (atEnd === true && cancelAt !== undefined && cancelAt !== '')
    throw invalidRequest('You may only specify one of these parameters: cancel_at, cancel_at_period_end.');
  if (method !== undefined && method !== '') take(books.paymentMethods, method, 'PaymentMethod');

  if (metadata !== undefined) subscription.metadata = merged(subscription.metadata, metadata);
  if (method !== undefined) subscription.default_payment_method = method === '' ? null : method;
  if (pause)
    subscription.pause_collection = paused === undefined ? null : { behavior: paused, resumes_at: null };
  if (atEnd !== undefined) subscription.cancel_at_period_end = atEnd;
  if (cancelAt !== undefined) subscription.cancel_at = cancelAt === '' ? null : Number(cancelAt);
  if (atEnd !== undefined || cancelAt !== undefined) noteCancellation(books.now, subscription);
  changeItem(call, subscription, items[0], { at, proration, ifPaid });
  updated(books, subscription);
  return subscription;
}

/** With `pending_if_incomplete` few parameters are taken. */
function rejectUnlessAllowed(names: readonly string[]): void {
  const taken = [
    'items',
    'payment_behavior',
    'proration_behavior',
    'proration_date',
    'off_session',
    'expand',
  ];
  const other = names.find((name) => !taken.includes(name));
  if (other !== undefined)
    throw invalidRequest(`\`${other}\` is not supported with \`pending_if_incomplete\`.`, undefined, other);
}

function noteCancellation(now: number, subscription: R.Subscription): void {
  const willEnd = subscription.cancel_at_period_end || subscription.cancel_at !== null;
  subscription.canceled_at = willEnd ? now : null;
}

function changeItem(
  { books }: Call,
  subscription: R.Subscription,
  asked: { id: string | undefined; price: string | undefined } | undefined,
  how: { at: number | undefined; proration: string | undefined; ifPaid: boolean },
): void {
  if (asked?.price === undefined) return;
  const item = itemOf(subscription);
  if (asked.id !== item.id)
    throw invalidRequest(`No such subscription item: '${asked.id}'`, 'resource_missing', 'items[0][id]');
  const price = take(books.prices, asked.price, 'price');
  if (!price.active) throw invalidRequest('The price specified is inactive.');
  const at = how.at ?? books.now;
  if (at < item.current_period_start || at > books.now + 86_400 || at > item.current_period_end)
    throw invalidRequest('Cannot specify a proration date outside of the current period.');
  if (subscription.pending_update !== null)
    throw conflicting('The subscription has a pending update: its invoice is to be paid or voided first.');
  if (price.id === item.price.id) return;
  changePrice(books, subscription, price, {
    at,
    invoiceNow: how.proration === 'always_invoice',
    ifPaid: how.ifPaid,
  });
}

function cancel({ books, params, ids }: Call): R.Subscription {
  const subscription = take(books.subscriptions, ids[0]!, 'subscription');
  params.flag('invoice_now');
  params.flag('prorate');
  const details = params.within('cancellation_details');
  details?.text('comment');
  params.end();
  if (OVER.includes(subscription.status))
    throw conflicting(`No such subscription: '${subscription.id}'`, 'resource_missing');
  end(books, subscription, 'canceled');
  return subscription;
}

function listSchedules(call: Call) {
  const customer = call.params.text('customer');
  return page(
    call,
    '/v1/subscription_schedules',
    call.books.schedules.values(),
    (schedule) => customer === undefined || schedule.customer === customer,
  );
}

function endSchedule({ books, params, ids }: Call, how: 'released' | 'canceled'): R.Schedule {
  const schedule = take(books.schedules, ids[0]!, 'schedule');
  if (how === 'released') params.flag('preserve_cancel_date');
  else {
    params.flag('invoice_now');
    params.flag('prorate');
  }
  params.end();
  if (schedule.status !== 'active')
    throw conflicting(`You cannot ${how} a subscription schedule that is currently ${schedule.status}.`);
  const subscription = books.subscriptions.get(schedule.subscription!)!;
  releaseSchedule(books, subscription, how);
  // Cancelling a schedule cancels what it schedules.
  if (how === 'canceled') end(books, subscription, 'canceled');
  else updated(books, subscription);
  return schedule;
}
