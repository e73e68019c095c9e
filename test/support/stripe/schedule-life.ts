import { conflicting, invalidRequest } from './api-error.ts';
import { type Books, take } from './books.ts';
import { merged, type Params } from './params.ts';
import type * as R from './records.ts';
import type { Call } from './route.ts';
import { itemOf, OVER } from './subscription-life.ts';

export function createSchedule({ books, params }: Call): R.Schedule {
  const from = params.needed('from_subscription');
  // With `from_subscription` no other parameter is allowed: a second call adds the next phase.
  params.end();
  const subscription = take(books.subscriptions, from, 'subscription');
  if (OVER.includes(subscription.status)) throw conflicting('The subscription is canceled.');
  if (subscription.schedule !== null)
    throw conflicting('You cannot migrate a subscription that is already attached to a schedule.');
  const item = itemOf(subscription);
  const current = { start_date: item.current_period_start, end_date: item.current_period_end };
  const schedule: R.Schedule = {
    ...books.row('sub_sched', 'subscription_schedule'),
    customer: subscription.customer,
    status: 'active',
    end_behavior: subscription.cancel_at_period_end ? 'cancel' : 'release',
    current_phase: current,
    phases: [phaseOf(subscription)],
    metadata: {},
    released_at: null,
    canceled_at: null,
    completed_at: null,
    subscription: subscription.id,
    released_subscription: null,
  };
  books.schedules.set(schedule.id, schedule);
  subscription.schedule = schedule.id;
  books.emit('subscription_schedule.created', schedule);
  return schedule;
}

/** The subscription as it is, as a phase. */
function phaseOf(subscription: R.Subscription): R.Phase {
  const item = itemOf(subscription);
  const { quantity, metadata, billing_thresholds, discounts, tax_rates, price } = item;
  const terms = { quantity, metadata, billing_thresholds, tax_rates };
  return {
    add_invoice_items: [],
    application_fee_percent: subscription.application_fee_percent,
    automatic_tax: subscription.automatic_tax,
    billing_cycle_anchor: null,
    billing_thresholds: subscription.billing_thresholds,
    collection_method: subscription.collection_method,
    currency: subscription.currency,
    default_payment_method: subscription.default_payment_method,
    default_tax_rates: subscription.default_tax_rates,
    description: subscription.description,
    discounts: subscription.discounts.map(phaseDiscount),
    end_date: item.current_period_end,
    invoice_settings: { ...subscription.invoice_settings, days_until_due: null },
    items: [{ ...terms, price: price.id, plan: price.id, discounts: discounts.map(phaseDiscount) }],
    metadata: {},
    on_behalf_of: subscription.on_behalf_of,
    proration_behavior: 'create_prorations',
    start_date: item.current_period_start,
    transfer_data: subscription.transfer_data,
    trial_end: subscription.status === 'trialing' ? subscription.trial_end : null,
  };
}

function phaseDiscount(discount: string): R.PhaseDiscount {
  return { coupon: null, discount, promotion_code: null };
}

const PRORATION = ['none', 'create_prorations', 'always_invoice'] as const;

/** Phases are replaced as a whole: fields that are not sent are removed. The present phase takes effect at once. */
export function updateSchedule({ books, params, ids }: Call): R.Schedule {
  const schedule = take(books.schedules, ids[0]!, 'schedule');
  const endBehavior = params.oneOf('end_behavior', ['release', 'cancel']) ?? schedule.end_behavior;
  const metadata = merged(schedule.metadata, params.metadata());
  params.oneOf('proration_behavior', PRORATION);
  const asked = params.each('phases').map((phase) => ({
    start: phase.integer('start_date'),
    end: phase.integer('end_date'),
    length: lengthIn(phase.within('duration')),
    terms: termsIn(phase),
  }));
  params.end();
  if (schedule.status !== 'active') throw conflicting(`The schedule is ${schedule.status}.`);
  const current = schedule.current_phase!;
  // Past phases can be left out.
  const begun = schedule.phases.filter(({ start_date }) => start_date <= current.start_date);
  const first = begun.find(({ start_date }) => start_date === asked[0]?.start);
  if (asked.length > 0 && first === undefined)
    throw invalidRequest('The current phase has to begin when it began.', undefined, 'phases[0][start_date]');
  let from = first?.start_date ?? 0;
  const phases = asked.map(({ start, end: ends, length, terms }): R.Phase => {
    for (const { price } of terms.items) take(books.prices, price, 'price');
    if (terms.items.length === 0) throw invalidRequest('Missing required param: items.', 'parameter_missing');
    if (start !== undefined && start !== from) throw invalidRequest('Phases have to follow each other.');
    if (ends !== undefined && length !== undefined)
      throw invalidRequest('A phase has an end_date or a duration.');
    const until = ends ?? (length && monthsAfter(from, length));
    if (until === undefined) throw invalidRequest('A phase needs an end_date or a duration.');
    const phase = { ...terms, start_date: from, end_date: until };
    from = until;
    return phase;
  });
  Object.assign(schedule, { end_behavior: endBehavior, metadata, ...(phases.length > 0 && { phases }) });
  const atWork = phases.find(({ start_date }) => start_date === current.start_date);
  if (atWork !== undefined) enterPhase(books, books.subscriptions.get(schedule.subscription!)!, atWork);
  books.emit('subscription_schedule.updated', schedule);
  return schedule;
}

function lengthIn(duration: Params | undefined) {
  if (duration === undefined) return undefined;
  return {
    interval: duration.oneOf('interval', ['month', 'year'] as const) ?? ('month' as const),
    interval_count: duration.integer('interval_count') ?? 1,
  };
}

function termsIn(phase: Params) {
  const fee = phase.integer('application_fee_percent');
  const tax = phase.within('automatic_tax');
  const thresholds = phase.within('billing_thresholds');
  const settings = phase.within('invoice_settings');
  const transfer = phase.within('transfer_data');
  return {
    add_invoice_items: [] as [],
    application_fee_percent: fee ?? null,
    automatic_tax: {
      enabled: tax?.flag('enabled') ?? false,
      liability: partyIn(tax?.within('liability')),
      disabled_reason: null,
    },
    billing_cycle_anchor: phase.oneOf('billing_cycle_anchor', ['automatic', 'phase_start']) ?? null,
    billing_thresholds:
      thresholds === undefined
        ? null
        : {
            amount_gte: thresholds.integer('amount_gte') ?? null,
            reset_billing_cycle_anchor: thresholds.flag('reset_billing_cycle_anchor') ?? null,
          },
    collection_method: phase.oneOf('collection_method', ['charge_automatically', 'send_invoice']) ?? null,
    currency: phase.text('currency') ?? 'usd',
    default_payment_method: phase.text('default_payment_method') ?? null,
    default_tax_rates: phase.texts('default_tax_rates').map((id) => ({ id })),
    description: phase.text('description') ?? null,
    discounts: phase.each('discounts').map(discountIn),
    invoice_settings:
      settings === undefined
        ? null
        : {
            account_tax_ids: settings.has('account_tax_ids') ? [...settings.texts('account_tax_ids')] : null,
            days_until_due: settings.integer('days_until_due') ?? null,
            issuer: partyIn(settings.within('issuer')) ?? { type: 'self' },
          },
    items: phase.each('items').map((item): R.PhaseItem => {
      const price = item.needed('price');
      const usage = item.within('billing_thresholds');
      return {
        price,
        plan: price,
        quantity: item.integer('quantity') ?? 1,
        metadata: item.metadata() ?? {},
        billing_thresholds: usage === undefined ? null : { usage_gte: usage.integer('usage_gte') ?? null },
        discounts: item.each('discounts').map(discountIn),
        tax_rates: item.texts('tax_rates').map((id) => ({ id })),
      };
    }),
    metadata: phase.metadata() ?? {},
    on_behalf_of: phase.text('on_behalf_of') ?? null,
    proration_behavior: phase.oneOf('proration_behavior', PRORATION) ?? 'create_prorations',
    transfer_data:
      transfer === undefined
        ? null
        : {
            amount_percent: transfer.integer('amount_percent') ?? null,
            destination: transfer.needed('destination'),
          },
    trial_end: phase.integer('trial_end') ?? null,
  };
}

function partyIn(party: Params | undefined) {
  if (party === undefined) return null;
  const account = party.text('account');
  return { type: party.needed('type'), ...(account !== undefined && { account }) };
}

function discountIn(given: Params): R.PhaseDiscount {
  const [coupon, discount, code] = ['coupon', 'discount', 'promotion_code'].map((name) => given.text(name));
  if ([coupon, discount, code].filter((one) => one !== undefined).length !== 1)
    throw invalidRequest('A discount is named by one of coupon, discount and promotion_code.');
  return { coupon: coupon ?? null, discount: discount ?? null, promotion_code: code ?? null };
}

/** From now on the subscription is as the phase says. */
export function enterPhase(books: Books, subscription: R.Subscription, phase: R.Phase): void {
  const { application_fee_percent, automatic_tax, billing_thresholds, default_payment_method } = phase;
  const { default_tax_rates, description, on_behalf_of, transfer_data, metadata } = phase;
  const { account_tax_ids = null, issuer = { type: 'self' } } = phase.invoice_settings ?? {};
  Object.assign(subscription, {
    ...{ application_fee_percent, automatic_tax, billing_thresholds, default_payment_method },
    ...{ default_tax_rates, description, on_behalf_of, transfer_data },
    collection_method: phase.collection_method ?? 'charge_automatically',
    discounts: phase.discounts.map((each) => idOfDiscount(books, each)),
    invoice_settings: { account_tax_ids, issuer },
    metadata: merged(subscription.metadata, metadata),
  });
  // A trial that the phase does not have is over.
  if (subscription.status === 'trialing' && phase.trial_end === null && phase.start_date <= books.now)
    Object.assign(subscription, { status: 'active', trial_end: books.now });
  const [reported] = phase.items;
  const {
    price,
    quantity,
    metadata: itemMetadata,
    billing_thresholds: usage,
    tax_rates,
    discounts,
  } = reported!;
  Object.assign(itemOf(subscription), {
    ...{ quantity, tax_rates, metadata: itemMetadata, billing_thresholds: usage },
    price: books.prices.get(price)!,
    discounts: discounts.map((each) => idOfDiscount(books, each)),
  });
}

/** Of a coupon a discount is made that begins now. */
function idOfDiscount(books: Books, { discount }: R.PhaseDiscount): string {
  return discount ?? books.id('di');
}

function monthsAfter(
  from: number,
  { interval, interval_count }: { interval: string; interval_count: number },
) {
  const at = new Date(from * 1000);
  at.setUTCMonth(at.getUTCMonth() + interval_count * (interval === 'year' ? 12 : 1));
  return Math.floor(at.getTime() / 1000);
}
