import type { Books } from './books.ts';
import type * as R from './records.ts';

/** The behaviour of a test card, by its last digits: those of Stripe's own test cards. */
export const CARDS = {
  /** Every charge succeeds. */
  good: '4242',
  /** Can be saved, and is declined whenever it is charged. */
  declined: '0341',
  /** Its bank wants to see the customer for every payment. */
  authenticates: '3184',
} as const;
export type Card = keyof typeof CARDS;

/** Saves a card with a customer; the invoice settings name it as the default when `asDefault` says so. */
export function saveCard(books: Books, customerId: string, card: Card, asDefault: boolean): R.PaymentMethod {
  const saved: R.PaymentMethod = {
    ...books.row('pm', 'payment_method'),
    type: 'card',
    customer: customerId,
    card: { brand: 'visa', last4: CARDS[card], exp_month: 12, exp_year: 2040 },
    metadata: {},
  };
  books.paymentMethods.set(saved.id, saved);
  books.emit('payment_method.attached', saved);
  const customer = books.customers.get(customerId)!;
  if (asDefault) {
    customer.invoice_settings.default_payment_method = saved.id;
    books.emit('customer.updated', customer);
  }
  return saved;
}

export function newIntent(
  books: Books,
  { customer, amount, currency }: { customer: string; amount: number; currency: string },
  metadata: R.Metadata = {},
): R.PaymentIntent {
  const intent: R.PaymentIntent = {
    ...books.row('pi', 'payment_intent'),
    customer,
    amount,
    amount_received: 0,
    currency,
    status: 'requires_payment_method',
    payment_method: null,
    latest_charge: null,
    last_payment_error: null,
    metadata,
    canceled_at: null,
  };
  books.intents.set(intent.id, intent);
  return intent;
}

/** Charges a card. With the customer present (`present`) the bank gets its confirmation. */
export function charge(
  books: Books,
  intent: R.PaymentIntent,
  methodId: string,
  present: boolean,
): 'succeeded' | 'declined' | 'requires_action' {
  const last4 = books.paymentMethods.get(methodId)!.card.last4;
  intent.payment_method = methodId;
  if (last4 === CARDS.authenticates && !present) {
    const error = { type: 'card_error', code: 'authentication_required', message: 'Authentication required' };
    Object.assign(intent, { status: 'requires_action', last_payment_error: error });
    books.emit('payment_intent.requires_action', intent);
    return 'requires_action';
  }
  const succeeded = last4 !== CARDS.declined;
  const made: R.Charge = {
    ...books.row('ch', 'charge'),
    customer: intent.customer,
    amount: intent.amount,
    amount_refunded: 0,
    currency: intent.currency,
    disputed: false,
    paid: succeeded,
    payment_intent: intent.id,
    payment_method: methodId,
    refunded: false,
    status: succeeded ? 'succeeded' : 'failed',
    failure_code: succeeded ? null : 'card_declined',
    metadata: intent.metadata,
  };
  books.charges.set(made.id, made);
  intent.latest_charge = made.id;
  books.emit(succeeded ? 'charge.succeeded' : 'charge.failed', made);
  if (!succeeded) {
    const message = 'Your card was declined.';
    const error = { type: 'card_error', code: 'card_declined', decline_code: 'generic_decline', message };
    Object.assign(intent, { status: 'requires_payment_method', last_payment_error: error });
    books.emit('payment_intent.payment_failed', intent);
    return 'declined';
  }
  Object.assign(intent, { status: 'succeeded', amount_received: intent.amount, last_payment_error: null });
  books.emit('payment_intent.succeeded', intent);
  return 'succeeded';
}
