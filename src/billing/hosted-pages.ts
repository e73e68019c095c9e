import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { BillingAccount, BillingStore, OpenPages } from './billing-store.ts';
import { type HostedPage, hasFailed, type StripeGateway } from './stripe-gateway.ts';

/** What a page is for: what stays the same however often it is asked for. */
type Order<K extends keyof OpenPages> = Omit<
  OpenPages[K],
  'key' | 'openedAt' | 'sessionId' | 'url' | 'expiresAt'
>;
/** Makes the page; done again for the same note, it is the same page. */
type Make<K extends keyof OpenPages> = (page: OpenPages[K]) => Promise<HostedPage>;

/** A page can be paid on for a day, and an idempotency key is known for as long. */
const PAGE_MS = 23 * 3_600_000;

/**
 * The one hosted page of each kind that an account has open. What is about to be made is noted before, with its key: of
 * requests that come at once, in whichever processes, one notes it, and all get the same page; so does whoever asks again
 * after a crash or a lost answer.
 */
export class HostedPages {
  readonly #parts: {
    readonly store: BillingStore;
    readonly gateway: StripeGateway;
    readonly clock: Clock;
  };

  constructor(parts: { store: BillingStore; gateway: StripeGateway; clock: Clock }) {
    this.#parts = parts;
  }

  /**
   * The page that is open for this price, or a new one; one for another price is closed first.
   *
   * @param accountId of one that is a customer.
   * @returns where it is.
   * @throws what the provider does.
   */
  async open<K extends keyof OpenPages>(
    accountId: string,
    kind: K,
    order: Order<K>,
    make: Make<K>,
  ): Promise<string> {
    const { store, clock } = this.#parts;
    for (;;) {
      const account = await store.find(accountId);
      if (account === undefined) throw new Error(`The account ${accountId} is no customer.`);
      const known = await this.#known(account, kind, order.priceId, make);
      if (known !== undefined) return known.url;
      // An order and what `Order` leaves out are a page; of a kind that is not known here the compiler cannot tell.
      const noted = { ...order, key: randomUUID(), openedAt: clock.now() } as OpenPages[K];
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
    const { gateway, clock } = this.#parts;
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

  /** Of one whose making was never answered, it is asked for again with its key, as long as Stripe knows that. */
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
    if (this.#parts.clock.now().getTime() - openedAt.getTime() > PAGE_MS) return undefined;
    return this.#make(accountId, kind, noted, make);
  }

  async #make<K extends keyof OpenPages>(
    accountId: string,
    kind: K,
    noted: OpenPages[K],
    make: Make<K>,
  ): Promise<HostedPage> {
    const { store } = this.#parts;
    try {
      const page = await make(noted);
      const { id: sessionId, url, expiresAt } = page;
      await store.keepPage(accountId, kind, { ...noted, sessionId, url, expiresAt });
      return page;
    } catch (error) {
      // Stripe keeps its failure as the answer of the key.
      if (hasFailed(error)) await store.forgetPage(accountId, kind, noted.key);
      throw error;
    }
  }
}
