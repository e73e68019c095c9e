import type { BlockSize, Catalogue } from '../catalogue.ts';
import type { HostedPages } from '../hosted-pages.ts';
import { told } from '../refusals.ts';
import type { StripeGateway } from '../stripe-gateway.ts';
import type { Subscriptions } from '../subscriptions.ts';
import type { BlockStore } from './block-store.ts';

export interface TopUpParts {
  readonly blocks: BlockStore;
  readonly gateway: StripeGateway;
  readonly catalogue: Catalogue;
  readonly pages: HostedPages;
  readonly subscriptions: Pick<Subscriptions, 'customerOf'>;
  /** Where the provider's pages lead back to. */
  readonly returnUrl: () => string;
}

/** Blocks that are bought by hand, on a hosted page. */
export class TopUps {
  readonly #parts: TopUpParts;

  constructor(parts: TopUpParts) {
    this.#parts = parts;
  }

  /**
   * Asked again while the page is open, it is the same page: who presses the button twice cannot pay twice. Asked for a
   * block of another size, the page before is closed.
   *
   * @returns the page where it is paid.
   * @throws PlatenError NOT_SOLD, and what faults of the provider come out as.
   */
  async buy(accountId: string, units: BlockSize): Promise<string> {
    const { blocks, gateway, catalogue, pages, subscriptions, returnUrl } = this.#parts;
    const customerId = await subscriptions.customerOf(accountId);
    const { id: priceId, amountCents: priceCents } = await told(() => catalogue.block(units));
    return told(() =>
      pages.open(accountId, 'topUp', { priceId, units, priceCents }, async (page) => {
        const { key: blockId, units, priceCents, priceId } = page;
        await blocks.add({ _id: blockId, accountId, kind: 'by-hand', units, priceCents });
        const order = { customerId, accountId, priceId, blockId, returnUrl: returnUrl() };
        const made = await gateway.blockPage(order, `${blockId}:page`);
        await blocks.keepPage(blockId, made);
        return made;
      }),
    );
  }
}
