import http from 'node:http';
import https from 'node:https';
import Stripe from 'stripe';
import { callerWaits } from '../../infra/async/caller-scope.ts';
import type { CustomerSnapshot, InvoiceSnapshot, SubscriptionSnapshot } from './provider-snapshot.ts';
import { payBack } from './refund.ts';
import { invoicesOf, subscriptionsOf } from './stripe-lists.ts';
import { idOf, invoiceSnapshot, METADATA, subscriptionSnapshot } from './stripe-snapshots.ts';

/** The API version that the types and the webhook endpoint use; the package pins the same. */
export const STRIPE_API_VERSION = '2026-10-28.endive';
/** How long one try may take, in milliseconds, and how often a call is repeated that has failed or got no response. */
const PATIENT = { timeout: 20_000, maxNetworkRetries: 2 };
/** While a caller waits, who gets a response within 5 s. The caller's next request completes a call with a key. */
const FOR_CALLER = { timeout: 4000, maxNetworkRetries: 0 };
/** Metadata of the portal's configuration, by which it is found. */
export const PORTAL_METADATA = { platen: 'portal' } as const;

interface StripeSettings {
  readonly secretKey: string;
  /** The address of the API; default Stripe's own. */
  readonly apiBase?: string | undefined;
  /** In milliseconds; only for tests. */
  readonly timeoutMs?: number;
}

/** What is bought on a hosted page. */
interface Purchase {
  readonly customerId: string;
  readonly accountId: string;
  readonly priceId: string;
  readonly returnUrl: string;
}

/** A hosted page, and the time until which it can be used. */
export interface HostedPage {
  readonly id: string;
  readonly url: string;
  readonly expiresAt: Date;
}

/**
 * Every call to Stripe about customers and their subscriptions. Calls that change something take an idempotency key
 * that was stored before; the library repeats a call with the same key. Errors are Stripe's: `isRejection` says which
 * of them are final, all others leave open whether the call took effect.
 */
export class StripeGateway {
  readonly #patient: Stripe;
  readonly #forCaller: Stripe;

  constructor({ secretKey, apiBase, timeoutMs }: StripeSettings) {
    const timeout = timeoutMs === undefined ? {} : { timeout: timeoutMs };
    this.#patient = openStripe(secretKey, apiBase, { ...PATIENT, ...timeout });
    this.#forCaller = openStripe(secretKey, apiBase, { ...FOR_CALLER, ...timeout });
  }

  /** For the other modules of this folder; to be read anew for each call. */
  get stripe(): Stripe {
    return callerWaits() ? this.#forCaller : this.#patient;
  }

  /** Everything that decides what a customer has, as it is now. */
  async customer(customerId: string): Promise<CustomerSnapshot> {
    const all = subscriptionsOf(this.stripe, customerId);
    const [customer, subscriptions, invoices] = await Promise.all([
      this.stripe.customers.retrieve(customerId),
      all,
      invoicesOf(this.stripe, customerId, all),
    ]);
    return { customerId, deleted: customer.deleted === true, subscriptions, ...invoices };
  }

  /** A customer's subscriptions in one call, with pending changes of plan: the facts that a change is decided by. */
  subscriptions(customerId: string): Promise<SubscriptionSnapshot[]> {
    return subscriptionsOf(this.stripe, customerId, ['data.latest_invoice']);
  }

  /** @returns the customer's id. */
  async createCustomer(accountId: string, email: string | null, key: string): Promise<string> {
    const { id } = await this.stripe.customers.create(
      { metadata: { [METADATA.account]: accountId }, ...(email !== null && { email }) },
      { idempotencyKey: key },
    );
    return id;
  }

  subscribePage(purchase: Purchase, key: string): Promise<HostedPage> {
    const metadata = { [METADATA.account]: purchase.accountId };
    const params = { mode: 'subscription', metadata, subscription_data: { metadata } } as const;
    return this.#page('checkout', purchase, params, key);
  }

  blockPage(purchase: Purchase & { readonly blockId: string }, key: string): Promise<HostedPage> {
    const metadata = { [METADATA.account]: purchase.accountId, [METADATA.blockId]: purchase.blockId };
    const invoice = { enabled: true, invoice_data: { metadata } };
    const payment = { payment_intent_data: { metadata }, invoice_creation: invoice };
    return this.#page('overage', purchase, { mode: 'payment', metadata, ...payment }, key);
  }

  async #page(
    what: string,
    { customerId: customer, accountId, priceId, returnUrl }: Purchase,
    params: Stripe.Checkout.SessionCreateParams,
    key: string,
  ): Promise<HostedPage> {
    const session = await this.stripe.checkout.sessions.create(
      {
        ...params,
        customer,
        client_reference_id: accountId,
        line_items: [{ price: priceId, quantity: 1 }],
        success_url: `${returnUrl}?${what}=done`,
        cancel_url: `${returnUrl}?${what}=left`,
      },
      { idempotencyKey: key },
    );
    return hostedPage(session);
  }

  /** Whether a page can still be paid on. */
  async isOpen(sessionId: string): Promise<boolean> {
    return (await this.stripe.checkout.sessions.retrieve(sessionId)).status === 'open';
  }

  /** A page that has been paid or has expired stays as it is. */
  async expirePage(sessionId: string): Promise<void> {
    try {
      await this.stripe.checkout.sessions.expire(sessionId);
    } catch (error) {
      if (!isRejection(error)) throw error;
    }
  }

  /** @returns the address of Stripe's own pages for the customer, as setup has configured them. */
  async portal(customerId: string, returnUrl: string): Promise<string> {
    const { configurations, sessions } = this.stripe.billingPortal;
    const { data } = await configurations.list({ active: true, limit: 100 });
    const ours = data.find(({ metadata }) => metadata?.platen === PORTAL_METADATA.platen);
    const session = await sessions.create({
      customer: customerId,
      return_url: returnUrl,
      ...(ours && { configuration: ours.id }),
    });
    return session.url;
  }

  async cancelAtPeriodEnd(subscriptionId: string, key: string): Promise<void> {
    await this.stripe.subscriptions.update(
      subscriptionId,
      { cancel_at_period_end: true },
      { idempotencyKey: key },
    );
  }

  /** Takes a cancellation back, whichever of its two fields is set: the portal sets only `cancel_at`. */
  async resume({ id, cancelAtPeriodEnd, cancelAt }: SubscriptionSnapshot, key: string): Promise<void> {
    const { subscriptions } = this.stripe;
    let dated = cancelAt !== null;
    if (cancelAtPeriodEnd) {
      const flag = { cancel_at_period_end: false };
      const after = await subscriptions.update(id, flag, { idempotencyKey: `${key}:flag` });
      dated = after.cancel_at !== null;
    }
    if (dated) await subscriptions.update(id, { cancel_at: '' }, { idempotencyKey: `${key}:date` });
  }

  /** The cost of changing to a price now; a change with the same `prorationDate` costs the same. */
  async previewChange(
    change: { customerId: string; subscriptionId: string; itemId: string; priceId: string },
    prorationDate: number,
  ): Promise<{ amountDueCents: number; currency: string }> {
    const preview = await this.stripe.invoices.createPreview({
      customer: change.customerId,
      subscription: change.subscriptionId,
      subscription_details: {
        items: [{ id: change.itemId, price: change.priceId }],
        proration_behavior: 'always_invoice',
        proration_date: prorationDate,
      },
    });
    return { amountDueCents: preview.amount_due, currency: preview.currency };
  }

  /** Changes the running subscription's price if the difference is paid; until then the price stays as it is. */
  async changePlan(
    change: { subscriptionId: string; itemId: string; priceId: string; prorationDate: number },
    key: string,
  ) {
    const subscription = await this.stripe.subscriptions.update(
      change.subscriptionId,
      {
        items: [{ id: change.itemId, price: change.priceId }],
        proration_behavior: 'always_invoice',
        proration_date: change.prorationDate,
        payment_behavior: 'pending_if_incomplete',
        expand: ['latest_invoice'],
      },
      { idempotencyKey: key },
    );
    const invoice = subscription.latest_invoice;
    const waits = subscription.pending_update !== null && typeof invoice === 'object' && invoice !== null;
    return {
      subscription: subscriptionSnapshot(subscription),
      confirmAt: waits ? (invoice.hosted_invoice_url ?? undefined) : undefined,
    };
  }

  /**
   * Refunds the last invoice of a second subscription, then ends the subscription; in this order, since an ended one is
   * not checked again. A repetition changes nothing more.
   *
   * @param key another one for every attempt: each attempt first reads what is left to do.
   * @param paidBack runs when the refund is made, before the subscription ends.
   * @throws the rejection when the money cannot be refunded; the subscription then goes on, and charges nothing more.
   */
  async undoDuplicate(subscriptionId: string, key: string, paidBack: () => Promise<void>): Promise<void> {
    const subscription = await this.stripe.subscriptions.retrieve(subscriptionId);
    const invoiceId = idOf(subscription.latest_invoice);
    try {
      const intent = invoiceId === null ? undefined : await this.paymentOf(invoiceId);
      if (intent !== undefined) await payBack(this.stripe, intent, `${key}:refund`);
    } catch (error) {
      if (isRejection(error) && !subscription.cancel_at_period_end) {
        await unlessRejected(() => this.cancelAtPeriodEnd(subscriptionId, `${key}:stop`));
      }
      throw error;
    }
    await paidBack();
    await unlessRejected(() =>
      this.stripe.subscriptions.cancel(
        subscriptionId,
        { invoice_now: false, prorate: false },
        { idempotencyKey: `${key}:cancel` },
      ),
    );
  }

  /** @returns the id of the PaymentIntent that has paid an invoice. */
  async paymentOf(invoiceId: string): Promise<string | undefined> {
    const payments = await this.stripe.invoicePayments.list({ invoice: invoiceId, limit: 100 });
    const paid = payments.data.find(({ status }) => status === 'paid');
    return idOf(paid?.payment.payment_intent) ?? undefined;
  }

  /** The customer that an object is about; undefined when it is about none, or was deleted. */
  async customerOf({ kind, id }: { kind: 'charge' | 'invoice' | 'payment_intent'; id: string }) {
    try {
      const found =
        kind === 'charge'
          ? await this.stripe.charges.retrieve(id)
          : kind === 'invoice'
            ? await this.stripe.invoices.retrieve(id)
            : await this.stripe.paymentIntents.retrieve(id);
      return idOf(found.customer) ?? undefined;
    } catch (error) {
      if (isRejection(error)) return undefined;
      throw error;
    }
  }

  async invoice(invoiceId: string): Promise<InvoiceSnapshot> {
    return invoiceSnapshot(await this.stripe.invoices.retrieve(invoiceId));
  }

  /** @returns undefined when it was deleted. */
  async invoiceIfAny(invoiceId: string): Promise<InvoiceSnapshot | undefined> {
    try {
      return await this.invoice(invoiceId);
    } catch (error) {
      if (isRejection(error)) return undefined;
      throw error;
    }
  }

  /** An invoice that is no longer open stays as it is. */
  async voidInvoice(invoiceId: string, key: string): Promise<void> {
    await unlessRejected(() => this.stripe.invoices.voidInvoice(invoiceId, {}, { idempotencyKey: key }));
  }
}

/** Opens the client with settings that must not depend on defaults: version, time-out, retries, telemetry off. */
function openStripe(secretKey: string, apiBase: string | undefined, patience: typeof PATIENT): Stripe {
  const options = { apiVersion: STRIPE_API_VERSION, ...patience, telemetry: false } as const;
  // The global agents go through the operator's proxy, if there is one; the library's own do not.
  if (apiBase === undefined) return new Stripe(secretKey, { ...options, httpAgent: https.globalAgent });
  const { protocol, hostname, port } = new URL(apiBase);
  return new Stripe(secretKey, {
    ...options,
    httpAgent: protocol === 'http:' ? http.globalAgent : https.globalAgent,
    protocol: protocol === 'http:' ? 'http' : 'https',
    host: hostname,
    ...(port !== '' && { port }),
  });
}

/**
 * Whether Stripe has considered a call and rejected it, so that nothing was done. After any other error it is not known
 * whether anything was done. A conflict of keys (409) and too many calls (429) were not considered.
 */
export function isRejection(error: unknown): error is Stripe.errors.StripeError {
  if (!(error instanceof Stripe.errors.StripeError)) return false;
  const { statusCode } = error;
  return (
    statusCode !== undefined &&
    statusCode >= 400 &&
    statusCode < 500 &&
    ![401, 403, 409, 429].includes(statusCode)
  );
}

/**
 * Whether Stripe has responded that it failed itself. It keeps that as the response for the key, so repeating the call
 * is of no use: the outcome has to be read, and whatever is left to do needs another key.
 */
export function hasFailed(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeError && (error.statusCode ?? 0) >= 500;
}

/** Runs a call whose rejection means that there is nothing to do. */
export async function unlessRejected(call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!isRejection(error)) throw error;
  }
}

function hostedPage({ id, url, expires_at }: Stripe.Checkout.Session): HostedPage {
  if (url === null) throw new Error(`Checkout ${id} has no page.`);
  return { id, url, expiresAt: new Date(expires_at * 1000) };
}
