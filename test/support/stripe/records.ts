/*
 * What the stand-in keeps: Stripe's objects with the fields that billing, or the stand-in itself, looks at. They are
 * answered as they are kept; a test holds their fields against those that stripe-mock answers with.
 */

export type Metadata = Record<string, string>;

interface Row<Name extends string> {
  readonly id: string;
  readonly object: Name;
  /** Whole seconds, as all times of Stripe. */
  created: number;
  livemode: false;
}

export interface Customer extends Row<'customer'> {
  email: string | null;
  name: string | null;
  description: string | null;
  metadata: Metadata;
  invoice_prefix: string;
  /** Cents: below nought it is a credit, which the next invoice takes. */
  balance: number;
  invoice_settings: { default_payment_method: string | null };
  deleted?: true;
}

export interface Product extends Row<'product'> {
  name: string;
  description: string | null;
  active: boolean;
  metadata: Metadata;
}

export interface Price extends Row<'price'> {
  product: string;
  active: boolean;
  currency: string;
  unit_amount: number;
  lookup_key: string | null;
  metadata: Metadata;
  nickname: string | null;
  type: 'recurring' | 'one_time';
  recurring: { interval: 'month' | 'year'; interval_count: number; usage_type: 'licensed' } | null;
  tax_behavior: string;
}

export interface WebhookEndpoint extends Row<'webhook_endpoint'> {
  url: string;
  api_version: string | null;
  enabled_events: string[];
  status: 'enabled' | 'disabled';
  description: string | null;
  metadata: Metadata;
  secret: string;
}

export interface PaymentMethod extends Row<'payment_method'> {
  type: 'card';
  customer: string | null;
  card: { brand: string; last4: string; exp_month: number; exp_year: number };
  metadata: Metadata;
}

/** What of a subscription a phase of a schedule decides while it is at work, besides its items. */
export interface Terms {
  application_fee_percent: number | null;
  automatic_tax: {
    enabled: boolean;
    liability: { type: string; account?: string } | null;
    disabled_reason: null;
  };
  billing_thresholds: { amount_gte: number | null; reset_billing_cycle_anchor: boolean | null } | null;
  collection_method: string;
  default_payment_method: string | null;
  /** Tax rates. */
  default_tax_rates: { id: string }[];
  description: string | null;
  /** Ids. */
  discounts: string[];
  invoice_settings: { account_tax_ids: string[] | null; issuer: { type: string; account?: string } };
  on_behalf_of: string | null;
  transfer_data: { amount_percent: number | null; destination: string } | null;
}

/** What of an item a phase decides. */
export interface ItemTerms {
  quantity: number;
  metadata: Metadata;
  billing_thresholds: { usage_gte: number | null } | null;
  discounts: string[];
  tax_rates: { id: string }[];
}

export interface SubscriptionItem extends ItemTerms {
  readonly id: string;
  readonly object: 'subscription_item';
  readonly created: number;
  readonly subscription: string;
  price: Price;
  current_period_start: number;
  current_period_end: number;
}

export interface PendingUpdate {
  expires_at: number;
  subscription_items: SubscriptionItem[];
}

export type SubscriptionStatus =
  | 'active'
  | 'trialing'
  | 'past_due'
  | 'unpaid'
  | 'paused'
  | 'incomplete'
  | 'incomplete_expired'
  | 'canceled';

export interface ApiList<T> {
  readonly object: 'list';
  readonly data: T[];
  readonly has_more: boolean;
  readonly url: string;
}

export interface Subscription extends Row<'subscription'>, Terms {
  customer: string;
  status: SubscriptionStatus;
  billing_cycle_anchor: number;
  billing_mode: { type: 'flexible' };
  currency: string;
  cancel_at: number | null;
  cancel_at_period_end: boolean;
  canceled_at: number | null;
  cancellation_details: {
    comment: string | null;
    feedback: string | null;
    reason: 'cancellation_requested' | 'payment_failed' | null;
  };
  ended_at: number | null;
  items: ApiList<SubscriptionItem>;
  latest_invoice: string | null;
  metadata: Metadata;
  pause_collection: { behavior: string; resumes_at: number | null } | null;
  pending_update: PendingUpdate | null;
  schedule: string | null;
  start_date: number;
  trial_start: number | null;
  trial_end: number | null;
}

export interface InvoiceLine {
  readonly id: string;
  readonly object: 'line_item';
  readonly amount: number;
  readonly currency: string;
  readonly description: string;
  readonly invoice: string;
  readonly metadata: Metadata;
  readonly quantity: number;
  readonly period: { start: number; end: number };
  readonly pricing: { type: 'price_details'; price_details: { price: string; product: string } } | null;
  readonly parent: object;
}

export type InvoiceStatus = 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';

export interface Invoice extends Row<'invoice'> {
  customer: string;
  status: InvoiceStatus;
  amount_due: number;
  amount_paid: number;
  amount_remaining: number;
  attempt_count: number;
  attempted: boolean;
  auto_advance: boolean;
  automatically_finalizes_at: number | null;
  billing_reason: string;
  collection_method: 'charge_automatically';
  currency: string;
  customer_email: string | null;
  default_payment_method: string | null;
  description: string | null;
  ending_balance: number | null;
  hosted_invoice_url: string | null;
  invoice_pdf: string | null;
  lines: ApiList<InvoiceLine>;
  metadata: Metadata;
  next_payment_attempt: number | null;
  number: string | null;
  parent: {
    type: 'subscription_details';
    subscription_details: {
      subscription: string;
      metadata: Metadata;
      subscription_proration_date?: number;
    };
  } | null;
  period_start: number;
  period_end: number;
  starting_balance: number;
  status_transitions: {
    finalized_at: number | null;
    marked_uncollectible_at: number | null;
    paid_at: number | null;
    voided_at: number | null;
  };
  subtotal: number;
  total: number;
  total_discount_amounts: { amount: number; discount: string }[];
}

export interface InvoicePayment extends Row<'invoice_payment'> {
  invoice: string;
  amount_paid: number | null;
  amount_requested: number;
  currency: string;
  is_default: boolean;
  payment: { type: 'payment_intent'; payment_intent: string };
  status: 'open' | 'paid' | 'canceled';
  status_transitions: { canceled_at: number | null; paid_at: number | null };
}

export interface PaymentIntent extends Row<'payment_intent'> {
  customer: string | null;
  amount: number;
  amount_received: number;
  currency: string;
  status: 'requires_payment_method' | 'requires_action' | 'processing' | 'succeeded' | 'canceled';
  payment_method: string | null;
  latest_charge: string | null;
  last_payment_error: { type: string; code: string; message: string; decline_code?: string } | null;
  metadata: Metadata;
  canceled_at: number | null;
}

export interface Charge extends Row<'charge'> {
  customer: string | null;
  amount: number;
  amount_refunded: number;
  currency: string;
  disputed: boolean;
  paid: boolean;
  payment_intent: string;
  payment_method: string;
  refunded: boolean;
  status: 'succeeded' | 'failed';
  failure_code: string | null;
  metadata: Metadata;
}

export interface Refund extends Omit<Row<'refund'>, 'livemode'> {
  amount: number;
  charge: string;
  currency: string;
  payment_intent: string;
  status: 'pending' | 'succeeded' | 'failed';
  reason: string | null;
  metadata: Metadata;
}

export interface Dispute extends Row<'dispute'> {
  amount: number;
  charge: string;
  currency: string;
  payment_intent: string;
  status: 'needs_response' | 'won' | 'lost';
  reason: string;
  metadata: Metadata;
}

export interface CheckoutSession extends Row<'checkout.session'> {
  mode: 'subscription' | 'payment';
  status: 'open' | 'complete' | 'expired';
  payment_status: 'unpaid' | 'paid' | 'no_payment_required';
  customer: string;
  client_reference_id: string | null;
  amount_total: number;
  currency: string;
  expires_at: number;
  invoice: string | null;
  invoice_creation: { enabled: boolean; invoice_data: { metadata: Metadata | null } } | null;
  metadata: Metadata;
  payment_intent: string | null;
  subscription: string | null;
  success_url: string | null;
  cancel_url: string | null;
  url: string | null;
}

export interface PhaseDiscount {
  readonly coupon: string | null;
  readonly discount: string | null;
  readonly promotion_code: string | null;
}

export interface PhaseItem extends Omit<ItemTerms, 'discounts'> {
  readonly price: string;
  readonly plan: string;
  readonly discounts: readonly PhaseDiscount[];
}

export interface Phase extends Omit<Terms, 'discounts' | 'collection_method' | 'invoice_settings'> {
  readonly add_invoice_items: [];
  readonly billing_cycle_anchor: string | null;
  readonly collection_method: string | null;
  readonly currency: string;
  readonly discounts: readonly PhaseDiscount[];
  readonly start_date: number;
  readonly end_date: number;
  readonly invoice_settings: (Terms['invoice_settings'] & { days_until_due: number | null }) | null;
  readonly items: PhaseItem[];
  readonly metadata: Metadata;
  readonly proration_behavior: string;
  readonly trial_end: number | null;
}

export interface Schedule extends Row<'subscription_schedule'> {
  customer: string;
  status: 'active' | 'released' | 'canceled' | 'completed';
  end_behavior: 'release' | 'cancel';
  current_phase: { start_date: number; end_date: number } | null;
  phases: Phase[];
  metadata: Metadata;
  released_at: number | null;
  canceled_at: number | null;
  completed_at: number | null;
  subscription: string | null;
  released_subscription: string | null;
}

export interface PortalConfiguration extends Row<'billing_portal.configuration'> {
  active: boolean;
  is_default: boolean;
  metadata: Metadata;
  features: object;
  business_profile: object;
  default_return_url: string | null;
}

export interface PortalSession extends Row<'billing_portal.session'> {
  configuration: string;
  customer: string;
  return_url: string | null;
  url: string;
}

export interface StripeEvent extends Row<'event'> {
  readonly type: string;
  readonly api_version: string;
  readonly data: { readonly object: { readonly id: string; readonly object: string } };
  readonly request: { id: string | null; idempotency_key: string | null } | null;
  pending_webhooks: number;
}
