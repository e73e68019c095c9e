import type Stripe from 'stripe';
import { idOf } from './stripe-snapshots.ts';

/** A phase and its contents, in Stripe's responses. */
type Phase = Stripe.SubscriptionSchedule.Phase;
type Item = Phase['items'][number];
type Added = Phase['add_invoice_items'][number];
type Discount = Phase['discounts'][number];
type TaxRates = Phase['default_tax_rates'];
type Liability = NonNullable<Phase['automatic_tax']>['liability'];
/** The same in requests to Stripe. */
type PhaseParams = NonNullable<Stripe.SubscriptionScheduleUpdateParams['phases']>[number];
type ItemParams = PhaseParams['items'][number];
type AddedParams = NonNullable<PhaseParams['add_invoice_items']>[number];
type InvoiceSettingsParams = NonNullable<PhaseParams['invoice_settings']>;

/**
 * How a value of Stripe's responses is sent in a request: each of its fields has to be named, so a version of the
 * package with one more field does not compile until the field is handled. `null` and `undefined` are not sent, which
 * leaves the field as it is.
 */
type Reported<T, P> = { readonly [F in keyof Required<T>]: (value: NonNullable<T[F]>) => Partial<P> };

/** A phase to be sent back, as an update replaces them all. @throws Error for a discount that names nothing. */
export function phaseAsItIs(phase: Phase): PhaseParams {
  return reported<Phase, PhaseParams>(phase, PHASE);
}

/**
 * The phase after it, which differs only in its price.
 *
 * @param change.from the price to replace; if no item has it, that of the only or first item is replaced.
 */
export function phaseAfter(
  phase: Phase,
  change: { readonly from: string | null; readonly to: string; readonly metadata: Record<string, string> },
): PhaseParams {
  // Fields of the present phase alone: its own charges, its trial, and how it was begun.
  const { add_invoice_items, trial, trial_end, billing_cycle_anchor, start_date, end_date, ...kept } =
    phaseAsItIs(phase);
  const found = kept.items.findIndex(({ price }) => price === change.from);
  const changed = Math.max(found, 0);
  return {
    ...kept,
    items: kept.items.map((item, at) => (at === changed ? { ...item, price: change.to } : item)),
    start_date: phase.end_date,
    duration: { interval: 'month', interval_count: 1 },
    // Metadata that the phase does not set stays as the subscription has it by then.
    metadata: change.metadata,
    proration_behavior: 'none',
  };
}

function reported<T extends object, P>(thing: T, fields: Reported<T, P>): P {
  const params: Partial<P> = {};
  for (const name of Object.keys(fields) as (keyof T & string)[]) {
    const value = thing[name];
    if (value !== null && value !== undefined) Object.assign(params, fields[name](value));
  }
  // Every field of a response is mapped: `Reported` demands it.
  return params as P;
}

const PHASE: Reported<Phase, PhaseParams> = {
  add_invoice_items: (all) =>
    all.length === 0 ? {} : { add_invoice_items: all.map((one) => reported<Added, AddedParams>(one, ADDED)) },
  application_fee_percent: (application_fee_percent) => ({ application_fee_percent }),
  automatic_tax: ({ enabled, liability }) => ({ automatic_tax: { enabled, ...liable(liability) } }),
  billing_cycle_anchor: (billing_cycle_anchor) => ({ billing_cycle_anchor }),
  billing_thresholds: ({ amount_gte, reset_billing_cycle_anchor }) => ({
    billing_thresholds: {
      ...(amount_gte !== null && { amount_gte }),
      ...(reset_billing_cycle_anchor !== null && { reset_billing_cycle_anchor }),
    },
  }),
  collection_method: (collection_method) => ({ collection_method }),
  currency: (currency) => ({ currency }),
  default_payment_method: (method) => ({ default_payment_method: needed(method) }),
  default_tax_rates: (rates) => named('default_tax_rates', rates),
  description: (description) => ({ description }),
  // Without discounts of its own the customer's discount applies, as before.
  discounts: (all) => (all.length === 0 ? {} : { discounts: all.map(discount) }),
  end_date: (end_date) => ({ end_date }),
  invoice_settings: (settings) => ({ invoice_settings: reported(settings, INVOICE_SETTINGS) }),
  items: (items) => ({ items: items.map((item) => reported<Item, ItemParams>(item, ITEM)) }),
  metadata: (metadata) => ({ metadata }),
  on_behalf_of: (account) => ({ on_behalf_of: needed(account) }),
  proration_behavior: (proration_behavior) => ({ proration_behavior }),
  start_date: (start_date) => ({ start_date }),
  transfer_data: ({ amount_percent, destination }) => ({
    transfer_data: {
      destination: needed(destination),
      ...(amount_percent !== null && { amount_percent }),
    },
  }),
  trial: (trial) => (trial ? { trial } : {}),
  trial_end: (trial_end) => ({ trial_end }),
};

const INVOICE_SETTINGS: Reported<NonNullable<Phase['invoice_settings']>, InvoiceSettingsParams> = {
  account_tax_ids: (ids) => ({ account_tax_ids: ids.map(needed) }),
  custom_fields: (fields) => ({ custom_fields: fields.map(({ name, value }) => ({ name, value })) }),
  days_until_due: (days_until_due) => ({ days_until_due }),
  description: (description) => ({ description }),
  footer: (footer) => ({ footer }),
  issuer: ({ type, account }) => ({ issuer: { type, ...(account && { account: needed(account) }) } }),
};

const ITEM: Reported<Item, ItemParams> = {
  billing_thresholds: ({ usage_gte }) => (usage_gte === null ? {} : { billing_thresholds: { usage_gte } }),
  discounts: (all) => (all.length === 0 ? {} : { discounts: all.map(discount) }),
  metadata: (metadata) => ({ metadata }),
  // An older name of the price.
  plan: () => ({}),
  price: (price) => ({ price: needed(price) }),
  quantity: (quantity) => ({ quantity }),
  tax_rates: (rates) => named('tax_rates', rates),
};

const ADDED: Reported<Added, AddedParams> = {
  discountable: (discountable) => ({ discountable }),
  discounts: (all) => (all.length === 0 ? {} : { discounts: all.map(discount) }),
  metadata: (metadata) => ({ metadata }),
  period: ({ start, end }) => ({ period: { start: { ...start }, end: { ...end } } }),
  price: (price) => ({ price: needed(price) }),
  quantity: (quantity) => ({ quantity }),
  tax_rates: (rates) => named('tax_rates', rates),
};

/** The discount itself where there is one: a new one from its coupon would begin anew. */
function discount({ discount: made, promotion_code: code, coupon }: Discount) {
  if (made !== null) return { discount: needed(made) };
  if (code !== null) return { promotion_code: needed(code) };
  return { coupon: needed(coupon) };
}

function named<N extends string>(name: N, rates: NonNullable<TaxRates>): Partial<Record<N, string[]>> {
  const ids = rates.map(({ id }) => id);
  return (ids.length === 0 ? {} : { [name]: ids }) as Partial<Record<N, string[]>>;
}

function liable(liability: Liability) {
  if (liability === null) return {};
  const { type, account } = liability;
  return { liability: { type, ...(account && { account: needed(account) }) } };
}

function needed(reference: Parameters<typeof idOf>[0]): string {
  const id = idOf(reference);
  if (id === null) throw new Error('A phase of a schedule at Stripe has a reference that names nothing.');
  return id;
}
