import type Stripe from 'stripe';
import { CURRENCY } from './catalogue.ts';
import type { Range } from './list-cursors.ts';
import type { InvoiceSnapshot } from './provider-snapshot.ts';
import { refundedOf } from './refund.ts';
import { hasFailed, isRejection, type StripeGateway } from './stripe-gateway.ts';
import { createdIn, PAGE } from './stripe-lists.ts';
import { date, idOf, METADATA } from './stripe-snapshots.ts';

/** Proof that a block was paid; without a payment where a credit balance or a discount left nothing to charge. */
export interface BlockProof {
  readonly intentId?: string;
}

/** An invoice for a block, with the state of its payment. */
export interface BlockInvoice {
  readonly id: string;
  readonly status: string;
  readonly hostedUrl: string | null;
  /** Undefined as long as there is none. */
  readonly proof: BlockProof | undefined;
  /** The party that its payment waits for. */
  readonly waitsFor: 'nothing' | 'customer' | 'bank';
}

/** The greatest difference between our clock and Stripe's, in milliseconds. */
const CLOCK_SKEW_MS = 3_600_000;

/** The response to a call to pay. `unclear`: Stripe has failed, and would give the same response for the same key. */
type PayResponse = 'taken' | 'refused' | 'unclear';

/** Refunds and disputes of a payment after it had succeeded. */
export interface ChargeFate {
  /** The payment; null for a charge that has none, or was declined. */
  readonly intentId: string | null;
  readonly madeAt: Date;
  readonly paidCents: number;
  /** By refunds that have not failed, including pending ones. */
  readonly refundedCents: number;
  readonly dispute: 'none' | 'open' | 'won' | 'lost';
}

interface BlockPage {
  readonly status: 'open' | 'paid' | 'over';
  readonly invoiceId: string | undefined;
  /** The PaymentIntent of the page itself. */
  readonly intentId: string | undefined;
}

/** The calls to Stripe by which blocks are bought, each with a key that follows from the block. */
export class StripeBlocks {
  readonly #gateway: StripeGateway;

  constructor(gateway: StripeGateway) {
    this.#gateway = gateway;
  }

  /** An invoice of the block, where Stripe may have forgotten the key. @param since when the block was decided on. */
  async find(customerId: string, blockId: string, since: Date): Promise<string | undefined> {
    const from = new Date(since.getTime() - CLOCK_SKEW_MS);
    const list = this.#stripe.invoices.list({ customer: customerId, limit: PAGE, ...createdIn({ from }) });
    for await (const { id, metadata } of list) {
      if (metadata?.[METADATA.blockId] === blockId) return id;
    }
    return undefined;
  }

  /** @param key the call's idempotency key, as in all the methods that follow. */
  async draft(customerId: string, blockId: string, key: string): Promise<string> {
    const { id } = await this.#stripe.invoices.create(
      {
        customer: customerId,
        auto_advance: false,
        currency: CURRENCY,
        metadata: { [METADATA.blockId]: blockId },
      },
      { idempotencyKey: key },
    );
    return id;
  }

  /** Adds the one line if it is missing, and finalises the invoice if it is still a draft. */
  async finalise(
    invoiceId: string,
    { units, priceCents }: { readonly units: number; readonly priceCents: number },
    keyOf: (what: string) => string,
  ): Promise<void> {
    const { status, lines } = await this.#stripe.invoices.retrieve(invoiceId);
    if (status !== 'draft') return;
    if (lines.data.length === 0) {
      await this.#stripe.invoices.addLines(
        invoiceId,
        { lines: [{ amount: priceCents, description: `${units} PDFs beyond the quota` }] },
        { idempotencyKey: keyOf('line') },
      );
    }
    await this.#stripe.invoices.finalizeInvoice(
      invoiceId,
      { auto_advance: false },
      { idempotencyKey: keyOf('finalise') },
    );
  }

  /** @throws when it is not known whether anything was done, and the same call may be repeated. */
  async pay(customerId: string, invoiceId: string, key: string): Promise<PayResponse> {
    const method = await this.#cardOf(customerId);
    try {
      await this.#stripe.invoices.pay(
        invoiceId,
        { off_session: true, ...(method !== null && { payment_method: method }) },
        { idempotencyKey: key },
      );
      return 'taken';
    } catch (error) {
      if (isRejection(error)) return 'refused';
      if (hasFailed(error)) return 'unclear';
      throw error;
    }
  }

  /** Deletes an invoice that was never finalised. @returns false when it has been. */
  async discard(invoiceId: string): Promise<boolean> {
    const invoice = await this.#gateway.invoiceIfAny(invoiceId);
    if (invoice === undefined) return true;
    if (invoice.status !== 'draft') return false;
    await this.#stripe.invoices.del(invoiceId);
    return true;
  }

  async void(invoiceId: string, key: string): Promise<void> {
    await this.#gateway.voidInvoice(invoiceId, key);
  }

  snapshot(invoiceId: string): Promise<InvoiceSnapshot> {
    return this.#gateway.invoice(invoiceId);
  }

  /** @param priceCents the amount that must have been paid. */
  async invoice(invoiceId: string, priceCents: number): Promise<BlockInvoice> {
    const invoice = await this.#stripe.invoices.retrieve(invoiceId);
    const payments = await this.#stripe.invoicePayments.list({ invoice: invoiceId, limit: 100 });
    const intents = await Promise.all(
      payments.data
        .map(({ payment }) => idOf(payment.payment_intent))
        .filter((id) => id !== null)
        .map((id) => this.#stripe.paymentIntents.retrieve(id)),
    );
    const waits = intents.some(({ status }) => status === 'processing')
      ? 'bank'
      : intents.some(({ status }) => status === 'requires_action')
        ? 'customer'
        : 'nothing';
    return {
      id: invoice.id,
      status: invoice.status ?? 'draft',
      hostedUrl: invoice.hosted_invoice_url ?? null,
      proof: proofOf(invoice, intents, priceCents),
      waitsFor: waits,
    };
  }

  async page(sessionId: string): Promise<BlockPage> {
    const session = await this.#stripe.checkout.sessions.retrieve(sessionId);
    const made = {
      invoiceId: idOf(session.invoice) ?? undefined,
      intentId: idOf(session.payment_intent) ?? undefined,
    };
    if (session.status === 'complete') {
      return { status: session.payment_status === 'unpaid' ? 'open' : 'paid', ...made };
    }
    return { status: session.status === 'open' ? 'open' : 'over', ...made };
  }

  /**
   * The proof that a block was paid on its page: the page's own payment, or its invoice where no payment was needed.
   * The invoice is made after the payment, and need not name it.
   */
  async proofOfPage({ invoiceId, intentId }: BlockPage, priceCents: number): Promise<BlockProof | undefined> {
    if (intentId !== undefined) {
      const {
        status,
        currency,
        amount_received: received,
      } = await this.#stripe.paymentIntents.retrieve(intentId);
      if (status === 'succeeded' && currency === CURRENCY && received >= priceCents) return { intentId };
    }
    return invoiceId === undefined ? undefined : (await this.invoice(invoiceId, priceCents)).proof;
  }

  /** Refunds and disputes of a customer's payments of a range: at most `most` payments, the newest first. */
  async charges(customerId: string, { from, until }: Range, most: number): Promise<ChargeFate[]> {
    const since = from && new Date(from.getTime() - CLOCK_SKEW_MS);
    const charges = await this.#stripe.charges
      .list({ customer: customerId, limit: PAGE, ...createdIn({ from: since, until }) })
      .autoPagingToArray({ limit: most });
    return Promise.all(
      charges.map(async (charge) => {
        const { id, amount: paidCents, amount_refunded: refunded, disputed, status } = charge;
        const dispute = disputed ? await this.#disputeOf(id) : 'none';
        // Whether the charge's own sum decreases when a refund fails is undocumented.
        const refundedCents = refunded > 0 ? await refundedOf(this.#stripe, { charge: id }) : 0;
        // Declined attempts say nothing about the payment, however it ended.
        const intentId = status === 'succeeded' ? idOf(charge.payment_intent) : null;
        return { intentId, madeAt: date(charge.created), paidCents, refundedCents, dispute };
      }),
    );
  }

  async #disputeOf(charge: string): Promise<ChargeFate['dispute']> {
    const { data } = await this.#stripe.disputes.list({ charge, limit: 100 });
    const statuses = data.map(({ status }) => status);
    if (statuses.includes('lost')) return 'lost';
    const over = ['won', 'warning_closed', 'prevented'];
    return statuses.every((status) => over.includes(status)) ? 'won' : 'open';
  }

  /** Checkout saves the card with the subscription, the portal with the customer. */
  async #cardOf(customerId: string): Promise<string | null> {
    const customer = await this.#stripe.customers.retrieve(customerId);
    if (customer.deleted === true) return null;
    const { data } = await this.#stripe.subscriptions.list({ customer: customerId, limit: 100 });
    const oldest = data.sort((a, b) => a.created - b.created)[0];
    return (
      idOf(oldest?.default_payment_method) ?? idOf(customer.invoice_settings.default_payment_method) ?? null
    );
  }

  get #stripe(): Stripe {
    return this.#gateway.stripe;
  }
}

/**
 * An invoice that Stripe calls paid is proof when its whole price came from somewhere: from the customer's credit
 * balance, from a discount, and for the amount due after these from payments that have succeeded. An invoice that was
 * marked as paid elsewhere, or reduced by a credit note, is no proof.
 */
function proofOf(
  invoice: Stripe.Invoice,
  intents: readonly Stripe.PaymentIntent[],
  priceCents: number,
): BlockProof | undefined {
  const { status, currency, amount_due: due, starting_balance: before, ending_balance: after } = invoice;
  if (status !== 'paid' || currency !== CURRENCY) return undefined;
  const fromBalance = (after ?? before) - before;
  const discount = sum((invoice.total_discount_amounts ?? []).map(({ amount }) => amount));
  if (due + fromBalance + discount < priceCents) return undefined;
  if (due === 0) return {};
  const taken = intents.filter((intent) => intent.status === 'succeeded' && intent.currency === CURRENCY);
  const [first] = taken;
  if (first === undefined || sum(taken.map(({ amount_received }) => amount_received)) < due) return undefined;
  return { intentId: first.id };
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}
