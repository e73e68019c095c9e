import type { Books } from './books.ts';
import { take } from './books.ts';
import { type Card, charge, newIntent, saveCard } from './cards.ts';
import { addLine, attempt, createInvoice, finalize, paymentOf, settle } from './invoice-life.ts';
import type * as R from './records.ts';
import { itemOf, subscribe, updated } from './subscription-life.ts';

/** What customers do on Stripe's pages, and operators and banks elsewhere. Each action emits events. */
export class CustomerActs {
  readonly #books: Books;
  readonly #due: () => void;

  /** `due` makes good what has become due by now. */
  constructor(books: Books, due: () => void) {
    this.#books = books;
    this.#due = due;
  }

  /**
   * Pays at a hosted Checkout. A card that is declined leaves the session open.
   *
   * @throws Error when the session is not open: its page says so.
   */
  completeCheckout(sessionId: string, card: Card = 'good'): 'paid' | 'declined' {
    this.#due();
    const session = take(this.#books.sessions, sessionId, 'checkout session');
    if (session.status !== 'open') throw new Error(`The session is ${session.status}.`);
    if (this.#books.customers.get(session.customer)?.deleted) throw new Error('The customer was deleted.');
    if (card === 'declined') return 'declined';
    if (session.mode === 'subscription') this.#subscribeBy(session, card);
    else this.#payBy(session, card);
    return 'paid';
  }

  #subscribeBy(session: R.CheckoutSession, card: Card): void {
    const books = this.#books;
    const method = saveCard(books, session.customer, card, false);
    const price = books.prices.get(books.sessionLines.get(session.id)![0]!.price)!;
    const subscription = subscribe(
      books,
      {
        ...{ customer: session.customer, price, default_payment_method: method.id },
        ...books.sessionData.get(session.id)!,
      },
      true,
    );
    this.#complete(session, { subscription: subscription.id, invoice: subscription.latest_invoice });
  }

  #payBy(session: R.CheckoutSession, card: Card): void {
    const books = this.#books;
    const { customer, currency, amount_total: amount } = session;
    const method = saveCard(books, customer, card, false);
    const { enabled, invoice_data: data } = session.invoice_creation!;
    if (!enabled) {
      const intent = newIntent(books, { customer, currency, amount });
      charge(books, intent, method.id, true);
      this.#complete(session, { payment_intent: intent.id });
      return;
    }
    const invoice = createInvoice(books, {
      ...{ customer, currency, billing_reason: 'manual', auto_advance: false },
      metadata: data.metadata ?? {},
    });
    for (const { price: id, quantity } of books.sessionLines.get(session.id)!) {
      const price = books.prices.get(id)!;
      addLine(books, invoice, { amount: price.unit_amount * quantity, description: 'Item', quantity, price });
    }
    finalize(books, invoice);
    attempt(books, invoice, method.id, true);
    const payment_intent = paymentOf(books, invoice)!.payment.payment_intent;
    this.#complete(session, { invoice: invoice.id, payment_intent });
  }

  #complete(session: R.CheckoutSession, made: Partial<R.CheckoutSession>): void {
    Object.assign(session, { ...made, status: 'complete', payment_status: 'paid', url: null });
    this.#books.emit('checkout.session.completed', session);
  }

  /** Pays an open invoice on its hosted page, or confirms to the bank there. A declined card leaves it open. */
  payHostedInvoice(invoiceId: string, card: Card = 'good'): void {
    this.#due();
    const books = this.#books;
    const invoice = take(books.invoices, invoiceId, 'invoice');
    if (invoice.status !== 'open') throw new Error(`The invoice is ${invoice.status}.`);
    attempt(books, invoice, saveCard(books, invoice.customer, card, false).id, true);
  }

  /** The operator notes that an invoice was paid elsewhere. */
  payOutOfBand(invoiceId: string): void {
    this.#due();
    settle(this.#books, take(this.#books.invoices, invoiceId, 'invoice'), undefined);
  }

  /** Another card from now on, for the customer and for subscriptions. */
  changeCard(customerId: string, card: Card): R.PaymentMethod {
    this.#due();
    const method = saveCard(this.#books, customerId, card, true);
    for (const subscription of this.#books.subscriptions.values())
      if (subscription.customer === customerId && subscription.default_payment_method !== null) {
        subscription.default_payment_method = method.id;
        updated(this.#books, subscription);
      }
    return method;
  }

  /** In the portal: sets `cancel_at` and not `cancel_at_period_end`, as flexible billing does. */
  cancelInPortal(subscriptionId: string): void {
    this.#due();
    const subscription = take(this.#books.subscriptions, subscriptionId, 'subscription');
    subscription.cancel_at = itemOf(subscription).current_period_end;
    subscription.canceled_at = this.#books.now;
    updated(this.#books, subscription);
  }

  /** Made past Checkout: by the operator, or by a tab that was left open. */
  subscribe(
    customerId: string,
    priceId: string,
    { card, trialDays, metadata }: { card?: Card; trialDays?: number; metadata?: R.Metadata } = {},
  ): R.Subscription {
    this.#due();
    const books = this.#books;
    const method = card === undefined ? undefined : saveCard(books, customerId, card, false);
    return subscribe(
      books,
      {
        customer: customerId,
        price: take(books.prices, priceId, 'price'),
        ...(metadata && { metadata }),
        ...(method && { default_payment_method: method.id }),
        ...(trialDays !== undefined && { trialEnd: books.now + trialDays * 86_400 }),
      },
      false,
    );
  }

  /** The operator changes fields of a subscription, such as its status or whether it is collected. */
  alter(subscriptionId: string, fields: Partial<R.Subscription>): void {
    this.#due();
    const subscription = take(this.#books.subscriptions, subscriptionId, 'subscription');
    updated(this.#books, Object.assign(subscription, fields));
  }

  /** The customer's bank takes the money back until the dispute is decided. */
  dispute(chargeId: string): R.Dispute {
    this.#due();
    const books = this.#books;
    const charged = take(books.charges, chargeId, 'charge');
    const { amount, currency, payment_intent } = charged;
    const dispute: R.Dispute = {
      ...books.row('du', 'dispute'),
      ...{ amount, charge: chargeId, currency, payment_intent },
      ...{ status: 'needs_response', reason: 'fraudulent', metadata: {} },
    };
    books.disputes.set(dispute.id, dispute);
    charged.disputed = true;
    books.emit('charge.dispute.created', dispute);
    books.emit('charge.dispute.funds_withdrawn', dispute);
    return dispute;
  }

  decideDispute(disputeId: string, status: 'won' | 'lost'): void {
    this.#due();
    const dispute = take(this.#books.disputes, disputeId, 'dispute');
    dispute.status = status;
    this.#books.emit('charge.dispute.closed', dispute);
    if (status === 'won') this.#books.emit('charge.dispute.funds_reinstated', dispute);
  }

  /**
   * A refund that had succeeded comes back: the bank did not take it. Whether the charge's own sum decreases is not
   * documented; `lowers` allows both. `events` are the types that are sent.
   */
  failRefund(
    refundId: string,
    { lowers = true, events: reported = ['refund.failed'] as readonly string[] } = {},
  ): void {
    this.#due();
    const refund = take(this.#books.refunds, refundId, 'refund');
    const charged = this.#books.charges.get(refund.charge)!;
    refund.status = 'failed';
    if (lowers) {
      charged.amount_refunded -= refund.amount;
      charged.refunded = false;
    }
    for (const type of reported) this.#books.emit(type, refund);
  }
}
