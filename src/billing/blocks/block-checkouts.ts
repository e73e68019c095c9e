import type { BlockSize, Catalogue } from '../stripe/catalogue.ts';
import { reported } from '../stripe/stripe-errors.ts';
import type { StripeGateway } from '../stripe/stripe-gateway.ts';
import type { HostedPages } from '../subscriptions/hosted-pages.ts';
import type { Subscriptions } from '../subscriptions/subscription-service.ts';
import type { BlockStore } from './block-store.ts';

export interface BlockCheckoutDeps {
  readonly blocks: BlockStore;
  readonly gateway: StripeGateway;
  readonly catalogue: Catalogue;
  readonly pages: HostedPages;
  readonly subscriptions: Pick<Subscriptions, 'customerOf'>;
  /** The address that the provider's pages lead back to. */
  readonly returnUrl: () => string;
}

/** Blocks that are bought by hand, on a hosted page. */
export class BlockCheckouts {
  readonly #deps: BlockCheckoutDeps;

  constructor(deps: BlockCheckoutDeps) {
    this.#deps = deps;
  }

  /**
   * While the page is open, a repeated request gives the same page: pressing the button twice cannot pay twice. A
   * request for a block of another size closes the page before.
   *
   * @returns the address of the page where the block is paid.
   * @throws PlatenError NOT_SOLD, or the one that a provider's error maps to.
   */
  async buy(accountId: string, units: BlockSize): Promise<string> {
    const { blocks, gateway, catalogue, pages, subscriptions, returnUrl } = this.#deps;
    const customerId = await subscriptions.customerOf(accountId);
    const { id: priceId, amountCents: priceCents } = await reported(() => catalogue.block(units));
    return reported(() =>
      pages.open(accountId, 'blockCheckout', { priceId, units, priceCents }, async (page) => {
        const { key: blockId, units, priceCents, priceId } = page;
        await blocks.add({ _id: blockId, accountId, kind: 'by-hand', units, priceCents });
        const purchase = { customerId, accountId, priceId, blockId, returnUrl: returnUrl() };
        const made = await gateway.blockPage(purchase, `${blockId}:page`);
        await blocks.keepPage(blockId, made);
        return made;
      }),
    );
  }
}
