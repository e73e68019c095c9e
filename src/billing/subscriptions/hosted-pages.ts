import { randomUUID } from 'node:crypto';
import type { Clock } from '../../infra/clock.ts';
import { type HostedPage, hasFailed, type StripeGateway } from '../stripe/stripe-gateway.ts';
import type { BillingAccount, BillingStore, OpenPages } from './billing-store.ts';

/** The purchase that a page is for: the fields that stay the same however often it is requested. */
type Purchase<K extends keyof OpenPages> = Omit<
  OpenPages[K],
  'key' | 'openedAt' | 'sessionId' | 'url' | 'expiresAt'
>;
/** Makes the page; repeated for the same note, it gives the same page. */
type Make<K extends keyof OpenPages> = (page: OpenPages[K]) => Promise<HostedPage>;

/** In milliseconds. A page can be paid for 24 hours, and an idempotency key is kept for as long. */
const PAGE_MS = 23 * 3_600_000;

/**
 * The one hosted page of each kind that an account has open. A page is noted with its key before it is made: of
 * concurrent requests, in any processes, one notes it and all get the same page; so does a request that is repeated
 * after a crash or a lost response.
 */
export class HostedPages {
  readonly #deps: {
    readonly store: BillingStore;
    readonly gateway: StripeGateway;
    readonly clock: Clock;
  };

  constructor(deps: { store: BillingStore; gateway: StripeGateway; clock: Clock }) {
    this.#deps = deps;
  }

  /**
   * The page that is open for this price, or a new one; a page for another price is closed first.
   *
   * @param accountId an account that is a customer.
   * @returns the page's address.
   * @throws the provider's errors.
   */
  async open<K extends keyof OpenPages>(
    accountId: string,
    kind: K,
    purchase: Purchase<K>,
    make: Make<K>,
  ): Promise<string> {
    const { store, clock } = this.#deps;
    for (;;) {
      const account = await store.find(accountId);
      if (account === undefined) throw new Error(`The account ${accountId} is no customer.`);
      const known = await this.#known(account, kind, purchase.priceId, make);
      if (known !== undefined) return known.url;
      // `purchase` and the fields that `Purchase` omits make a page; for a generic kind the compiler cannot infer that.
      const noted = { ...purchase, key: randomUUID(), openedAt: clock.now() } as OpenPages[K];
      if (!(await store.notePage(account, kind, noted))) continue;
      return (await this.#make(accountId, kind, noted, make)).url;
    }
  }

  /** The page that is noted, if it is open and for this price; otherwise it is closed. */
  async #known<K extends keyof OpenPages>(
    account: BillingAccount,
    kind: K,
    priceId: string,
    make: Make<K>,
  ): Promise<HostedPage | undefined> {
    const { gateway, clock } = this.#deps;
    const pages: Partial<OpenPages> = account;
    const noted: OpenPages[K] | undefined = pages[kind];
    if (noted === undefined) return undefined;
    const page = await this.#pageOf(account._id, kind, noted, make);
    if (page === undefined || page.expiresAt <= clock.now() || !(await gateway.isOpen(page.id)))
      return undefined;
    if (noted.priceId === priceId) return page;
    await gateway.expirePage(page.id);
    return undefined;
  }

  /** A page whose making was never confirmed is requested again with its key, as long as Stripe keeps the key. */
  async #pageOf<K extends keyof OpenPages>(
    accountId: string,
    kind: K,
    noted: OpenPages[K],
    make: Make<K>,
  ): Promise<HostedPage | undefined> {
    const { sessionId, url, expiresAt, openedAt } = noted;
    if (sessionId !== undefined && url !== undefined && expiresAt !== undefined) {
      return { id: sessionId, url, expiresAt };
    }
    if (this.#deps.clock.now().getTime() - openedAt.getTime() > PAGE_MS) return undefined;
    return this.#make(accountId, kind, noted, make);
  }

  async #make<K extends keyof OpenPages>(
    accountId: string,
    kind: K,
    noted: OpenPages[K],
    make: Make<K>,
  ): Promise<HostedPage> {
    const { store } = this.#deps;
    try {
      const page = await make(noted);
      const { id: sessionId, url, expiresAt } = page;
      await store.keepPage(accountId, kind, { ...noted, sessionId, url, expiresAt });
      return page;
    } catch (error) {
      // Stripe keeps its failure as the response for the key.
      if (hasFailed(error)) await store.forgetPage(accountId, kind, noted.key);
      throw error;
    }
  }
}
