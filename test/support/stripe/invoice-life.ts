import { conflicting } from './api-error.ts';
import type { Books } from './books.ts';
import { listOf } from './books.ts';
import { charge, newIntent } from './cards.ts';
import type * as R from './records.ts';

export interface NewInvoice {
  readonly customer: string;
  readonly currency: string;
  readonly billing_reason: string;
  readonly auto_advance: boolean;
  readonly metadata?: R.Metadata;
  readonly description?: string | null;
  readonly default_payment_method?: string | null;
  readonly subscription?: R.Subscription;
  readonly period?: { start: number; end: number };
}

export interface NewLine {
  readonly amount: number;
  readonly description: string;
  readonly quantity?: number;
  readonly metadata?: R.Metadata;
  readonly price?: R.Price;
  readonly period?: { start: number; end: number };
  readonly item?: R.SubscriptionItem;
  readonly proration?: boolean;
}

const HOSTED = 'https://invoice.stripe.test';

export function invoiceOf(books: Books, made: NewInvoice): R.Invoice {
  const { subscription } = made;
  const customer = books.customers.get(made.customer);
  const row = books.row('in', 'invoice');
  return {
    ...row,
    customer: made.customer,
    status: 'draft',
    amount_due: 0,
    amount_paid: 0,
    amount_remaining: 0,
    attempt_count: 0,
    attempted: false,
    auto_advance: made.auto_advance,
    automatically_finalizes_at: null,
    billing_reason: made.billing_reason,
    collection_method: 'charge_automatically',
    currency: made.currency,
    customer_email: customer?.email ?? null,
    default_payment_method: made.default_payment_method ?? null,
    description: made.description ?? null,
    ending_balance: null,
    hosted_invoice_url: null,
    invoice_pdf: null,
    lines: listOf<R.InvoiceLine>([], `/v1/invoices/${row.id}/lines`),
    metadata: made.metadata ?? {},
    next_payment_attempt: null,
    number: null,
    parent:
      subscription === undefined
        ? null
        : {
            type: 'subscription_details',
            subscription_details: { subscription: subscription.id, metadata: { ...subscription.metadata } },
          },
    period_start: made.period?.start ?? books.now,
    period_end: made.period?.end ?? books.now,
    starting_balance: customer?.balance ?? 0,
    status_transitions: {
      finalized_at: null,
      marked_uncollectible_at: null,
      paid_at: null,
      voided_at: null,
    },
    subtotal: 0,
    total: 0,
    total_discount_amounts: [],
  };
}

export function createInvoice(books: Books, made: NewInvoice, lines: readonly NewLine[] = []): R.Invoice {
  const invoice = invoiceOf(books, made);
  books.invoices.set(invoice.id, invoice);
  for (const line of lines) addLine(books, invoice, line);
  if (made.subscription !== undefined) made.subscription.latest_invoice = invoice.id;
  books.emit('invoice.created', invoice);
  return invoice;
}

export function addLine(books: Books, invoice: R.Invoice, line: NewLine): void {
  const { item, price } = line;
  const parent =
    item === undefined
      ? { type: 'invoice_item_details', invoice_item_details: { proration: false } }
      : {
          type: 'subscription_item_details',
          subscription_item_details: {
            proration: line.proration ?? false,
            subscription: item.subscription,
            subscription_item: item.id,
          },
        };
  invoice.lines.data.push({
    id: books.id('il'),
    object: 'line_item',
    amount: line.amount,
    currency: invoice.currency,
    description: line.description,
    invoice: invoice.id,
    metadata: line.metadata ?? {},
    quantity: line.quantity ?? 1,
    period: line.period ?? { start: books.now, end: books.now },
    pricing:
      price === undefined
        ? null
        : { type: 'price_details', price_details: { price: price.id, product: price.product } },
    parent,
  });
  const subtotal = invoice.lines.data.reduce((sum, { amount }) => sum + amount, 0);
  const off = Math.max(0, Math.min(subtotal, discountOf(books, invoice)));
  const total = subtotal - off;
  const due = Math.max(0, total);
  if (off > 0) invoice.total_discount_amounts = [{ amount: off, discount: `di_${invoice.customer}` }];
  Object.assign(invoice, { subtotal, total, amount_due: due, amount_remaining: due });
}

/** Its subscription's discounts, or the customer's where it has none. */
function discountOf(books: Books, { customer, parent }: R.Invoice): number {
  const { discounts = [] } = books.subscriptions.get(parent?.subscription_details.subscription ?? '') ?? {};
  const own = discounts.map((id) => books.discounts.get(id) ?? 0);
  return own.length > 0 ? own.reduce((sum, off) => sum + off, 0) : (books.discounts.get(customer) ?? 0);
}

/** A credit balance of the customer is used first; a debt is added. */
function takeBalance(books: Books, invoice: R.Invoice, customer: R.Customer): void {
  const sum = invoice.total + customer.balance;
  const due = Math.max(0, sum);
  Object.assign(invoice, { starting_balance: customer.balance, ending_balance: Math.min(0, sum) });
  Object.assign(invoice, { amount_due: due, amount_remaining: due });
  setBalance(books, customer, Math.min(0, sum));
}

/** An invoice that is void has used nothing of it. */
function giveBalanceBack(books: Books, { customer: id, starting_balance, ending_balance }: R.Invoice): void {
  const customer = books.customers.get(id)!;
  const used = (ending_balance ?? starting_balance) - starting_balance;
  setBalance(books, customer, customer.balance - used);
}

function setBalance(books: Books, customer: R.Customer, balance: number): void {
  if (customer.balance === balance) return;
  customer.balance = balance;
  books.emit('customer.updated', customer);
}

export function finalize(books: Books, invoice: R.Invoice): void {
  if (invoice.status !== 'draft')
    throw conflicting('This invoice is already finalized.', 'invoice_not_editable');
  const customer = books.customers.get(invoice.customer)!;
  takeBalance(books, invoice, customer);
  const earlier = [...books.invoices.values()].filter(
    (other) => other.customer === customer.id && other.number !== null,
  );
  const number = `${customer.invoice_prefix}-${String(earlier.length + 1).padStart(4, '0')}`;
  Object.assign(invoice, {
    status: 'open',
    number,
    automatically_finalizes_at: null,
    hosted_invoice_url: `${HOSTED}/i/${invoice.id}`,
    invoice_pdf: `${HOSTED}/i/${invoice.id}/pdf`,
    period_end: invoice.parent === null ? books.now : invoice.period_end,
  });
  invoice.status_transitions.finalized_at = books.now;
  if (invoice.amount_due > 0) openPayment(books, invoice);
  books.emit('invoice.finalized', invoice);
  if (invoice.amount_due === 0) settle(books, invoice, undefined);
}

function openPayment(books: Books, invoice: R.Invoice): void {
  const { customer, currency, amount_due: amount } = invoice;
  const intent = newIntent(books, { customer, currency, amount });
  const payment: R.InvoicePayment = {
    ...books.row('inpay', 'invoice_payment'),
    invoice: invoice.id,
    amount_paid: null,
    amount_requested: amount,
    currency,
    is_default: true,
    payment: { type: 'payment_intent', payment_intent: intent.id },
    status: 'open',
    status_transitions: { canceled_at: null, paid_at: null },
  };
  books.invoicePayments.set(payment.id, payment);
}

/** The payment of the invoice; none where nothing is due. */
export function paymentOf(books: Books, invoice: R.Invoice): R.InvoicePayment | undefined {
  return [...books.invoicePayments.values()].find((payment) => payment.invoice === invoice.id);
}

export function intentOf(books: Books, invoice: R.Invoice): R.PaymentIntent | undefined {
  const payment = paymentOf(books, invoice);
  return payment && books.intents.get(payment.payment.payment_intent);
}

/** The card that an invoice is charged to by default: never just any card of the customer. */
export function cardFor(books: Books, invoice: R.Invoice): string | undefined {
  const id = invoice.parent?.subscription_details.subscription;
  const subscription = id === undefined ? undefined : books.subscriptions.get(id);
  return (
    invoice.default_payment_method ??
    subscription?.default_payment_method ??
    books.customers.get(invoice.customer)?.invoice_settings.default_payment_method ??
    undefined
  );
}

/** Charges an open invoice, and emits the outcome. */
export function attempt(
  books: Books,
  invoice: R.Invoice,
  method: string | undefined,
  present: boolean,
): 'succeeded' | 'declined' | 'requires_action' {
  const intent = intentOf(books, invoice)!;
  invoice.attempted = true;
  invoice.attempt_count += 1;
  const outcome = method === undefined ? 'declined' : charge(books, intent, method, present);
  if (outcome === 'succeeded') {
    settle(books, invoice, intent);
    return outcome;
  }
  books.emit('invoice.updated', invoice);
  books.emit('invoice.payment_failed', invoice);
  if (outcome === 'requires_action') books.emit('invoice.payment_action_required', invoice);
  books.afterInvoice(invoice, 'failed');
  return outcome;
}

/** Marks an invoice as paid: by a payment intent, or without one where nothing was due or it was paid elsewhere. */
export function settle(books: Books, invoice: R.Invoice, intent: R.PaymentIntent | undefined): void {
  const payment = paymentOf(books, invoice);
  Object.assign(invoice, {
    status: 'paid',
    amount_paid: invoice.amount_due,
    amount_remaining: 0,
    attempted: true,
    auto_advance: false,
    next_payment_attempt: null,
  });
  invoice.status_transitions.paid_at = books.now;
  if (payment !== undefined && intent !== undefined) {
    Object.assign(payment, { status: 'paid', amount_paid: invoice.amount_due });
    payment.status_transitions.paid_at = books.now;
    books.emit('invoice_payment.paid', payment);
  } else if (payment !== undefined) cancelPayment(books, payment);
  books.emit('invoice.updated', invoice);
  books.emit('invoice.paid', invoice);
  books.emit('invoice.payment_succeeded', invoice);
  books.afterInvoice(invoice, 'paid');
}

export function voidInvoice(books: Books, invoice: R.Invoice): void {
  if (invoice.status !== 'open' && invoice.status !== 'uncollectible')
    throw conflicting(
      `You can only pass in open invoices. This invoice isn't open (it is ${invoice.status}).`,
    );
  Object.assign(invoice, { status: 'void', auto_advance: false, next_payment_attempt: null });
  invoice.status_transitions.voided_at = books.now;
  const payment = paymentOf(books, invoice);
  if (payment !== undefined) cancelPayment(books, payment);
  giveBalanceBack(books, invoice);
  books.emit('invoice.voided', invoice);
  books.afterInvoice(invoice, 'void');
}

function cancelPayment(books: Books, payment: R.InvoicePayment): void {
  payment.status = 'canceled';
  payment.status_transitions.canceled_at = books.now;
  const intent = books.intents.get(payment.payment.payment_intent)!;
  if (intent.status !== 'succeeded') Object.assign(intent, { status: 'canceled', canceled_at: books.now });
}
