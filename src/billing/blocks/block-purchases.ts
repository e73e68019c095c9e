import type { Core } from '../../infra/core.ts';
import { DueWork } from '../../infra/store/due-work.ts';
import type { DisabledBecause } from '../../tenants/mail/mail.ts';
import type { MailOutbox } from '../../tenants/mail/outbox.ts';
import type { Tenants } from '../../tenants/open-tenants.ts';
import { type QuotaWindow, quotaPeriod, quotaResetDate } from '../../tenants/plans/quota-period.ts';
import type { Jobs } from '../../work/jobs/open-jobs.ts';
import type { InvoiceMirror } from '../invoices/invoice-mirror.ts';
import type { BlockInvoice, BlockProof, StripeBlocks } from '../stripe/stripe-blocks.ts';
import { hasFailed, isRejection } from '../stripe/stripe-gateway.ts';
import { KEY_MS } from '../subscriptions/billing-store.ts';
import type { Block, BlockState, BlockStore } from './block-store.ts';

/** The facts of an account that decide how a block is paid and used. */
interface BuyerFacts {
  readonly customerId: string | undefined;
  readonly email: string | null;
  /** PDFs that its plan includes per period. */
  readonly quota: number;
  readonly quotaWindow: QuotaWindow | null;
}

export interface BlockPurchasesDeps
  extends Pick<Core, 'clock' | 'logger'>,
    Pick<Tenants, 'outbox'>,
    Pick<Jobs, 'blockLedger'> {
  readonly blocks: BlockStore;
  readonly gateway: StripeBlocks;
  readonly mirror: Pick<InvoiceMirror, 'add'>;
  /** @returns undefined for a deleted account. */
  readonly buyer: (accountId: string) => Promise<BuyerFacts | undefined>;
  /** Called for each block that an operator has to check. */
  readonly observeError?: ((kind: 'unproven' | 'refused') => void) | undefined;
  /** Called once an account has a block, and after a crash again. */
  readonly onGranted?: ((accountId: string) => Promise<void>) | undefined;
}

/** How long the customer has to confirm a payment that the bank asks about, in milliseconds. */
const CONFIRM_MS = 23 * 3_600_000;
const HOUR_MS = 3_600_000;
const BANK_MS = 60_000;
const AT_ONCE = 20;
/** States before the invoice is open: nothing can be paid; a step is given up after `MOST_ATTEMPTS` + 1 rejections. */
const PREPARING: readonly BlockState[] = ['reserved', 'drafted'];
const MOST_ATTEMPTS = 3;

/**
 * Brings blocks from one state to the next (block-store.ts has the picture). Each step is one call with a key of its
 * own, and is noted before the next; after a crash the step is repeated, which changes nothing more. An error while
 * paying says nothing about the payment: the invoice is read, and only that decides. Units are granted for a payment
 * that has succeeded, for the whole amount, and for nothing else.
 */
export class BlockPurchases {
  readonly #deps: BlockPurchasesDeps;

  constructor(deps: BlockPurchasesDeps) {
    this.#deps = deps;
  }

  /** Makes records of the blocks that ledgers decided to buy, and continues due ones. @returns how many it claimed. */
  async sweep(): Promise<number> {
    const { blocks, blockLedger } = this.#deps;
    for (const { _id: accountId, overage } of await blockLedger.beingBought()) {
      if (overage?.purchase === undefined) continue;
      const { blockId, units, priceCents } = overage.purchase;
      if ((await blocks.find(blockId)) !== undefined) continue;
      await blocks.add({ _id: blockId, accountId, kind: 'auto', units, priceCents });
    }
    const due = new DueWork({
      queue: blocks,
      perQuery: AT_ONCE,
      atOnce: AT_ONCE,
      renews: true,
      attempt: (block) => this.#continue(block),
      onError: (error, block) => this.#continueLater(error, block),
    });
    return (await due.pass()).length;
  }

  /** Ends the unused units of expired blocks, also for accounts that send no request then. */
  async expire(): Promise<void> {
    const { blocks, blockLedger } = this.#deps;
    for (const { _id, accountId } of await blocks.expired(AT_ONCE)) {
      await blockLedger.expire(accountId);
      await blocks.noteExpired(_id);
    }
  }

  async #continue(claimed: Block): Promise<void> {
    for (let block = claimed; ; ) {
      const next = await this.#tryStep(block);
      if (next === 'overtaken') return;
      if (next instanceof Date) return this.#deps.blocks.leave(block, next);
      if (next === 'settled') return this.#deps.blocks.leave(block);
      block = next;
    }
  }

  async #continueLater(error: unknown, claimed: Block): Promise<void> {
    const { blocks, logger } = this.#deps;
    logger.warn({ err: error, blockId: claimed._id }, 'block could not be continued');
    // Stripe keeps failures and rejections as the response for the key: the next try reads the present state, and uses
    // another key.
    const attempts = hasFailed(error) || isRejection(error) ? 1 : 0;
    await blocks.retryLater(claimed, { $inc: { attempts } });
  }

  /** Like `#step`; ends a purchase that Stripe rejects while it is prepared: the account's submissions wait for it. */
  async #tryStep(block: Block) {
    try {
      return await this.#step(block);
    } catch (error) {
      const isPreparing = block.kind === 'auto' && PREPARING.includes(block.state);
      if (!isPreparing || !isRejection(error) || block.attempts < MOST_ATTEMPTS) throw error;
      return this.#abandon(block, error);
    }
  }

  async #abandon(block: Block, error: unknown) {
    const { gateway, logger, observeError } = this.#deps;
    const { _id: blockId, accountId, invoiceId } = block;
    if (invoiceId !== undefined && !(await gateway.discard(invoiceId))) throw error;
    logger.error({ err: error, blockId, accountId, invoiceId }, 'block is given up: its invoice is rejected');
    observeError?.('refused');
    return this.#fail(block);
  }

  /** @returns the block in its next state, the time until which it waits, or why nothing follows now. */
  async #step(block: Block): Promise<Block | Date | 'settled' | 'overtaken'> {
    switch (block.state) {
      case 'reserved':
        return block.kind === 'auto' ? this.#draft(block) : this.#checkAtPage(block);
      case 'drafted':
        return this.#finalise(block);
      case 'paying':
        return this.#pay(block);
      case 'action_required':
        return this.#awaitCustomer(block);
      case 'voiding':
        return this.#void(block);
      case 'paid':
        return this.#grant(block);
      default:
        return 'settled';
    }
  }

  async #draft(block: Block) {
    const { gateway, buyer, clock } = this.#deps;
    const customerId = (await buyer(block.accountId))?.customerId;
    if (customerId === undefined) return this.#fail(block);
    // Stripe may have forgotten the key by then: an invoice that was made already is searched for.
    const old = clock.now().getTime() - block.createdAt.getTime() > KEY_MS;
    const check = old || block.attempts > 0;
    const known = check ? await gateway.find(customerId, block._id, block.createdAt) : undefined;
    // Another customer needs another key: the account's first customer may have been deleted meanwhile.
    const key = keyOf(block, `create:${customerId}`);
    const invoiceId = known ?? (await gateway.draft(customerId, block._id, key));
    return this.#change(block, { state: 'drafted', invoiceId });
  }

  async #finalise(block: Block) {
    await this.#deps.gateway.finalise(invoiceOf(block), block, (what) => keyOf(block, what));
    return this.#change(block, { state: 'paying' });
  }

  async #pay(block: Block) {
    const { gateway, buyer, clock } = this.#deps;
    const invoiceId = invoiceOf(block);
    const before = await gateway.invoice(invoiceId, block.priceCents);
    if (before.status !== 'open') return this.#conclude(block, before);
    if (before.waitsFor === 'bank') return new Date(clock.now().getTime() + BANK_MS);
    const customerId = (await buyer(block.accountId))?.customerId;
    if (customerId === undefined) return this.#change(block, { state: 'voiding' });
    const response = await gateway.pay(customerId, invoiceId, keyOf(block, 'pay'));
    const after = await gateway.invoice(invoiceId, block.priceCents);
    if (after.status !== 'open') return this.#conclude(block, after);
    if (after.waitsFor === 'bank') return new Date(clock.now().getTime() + BANK_MS);
    if (response === 'unclear') {
      // The invoice is not paid: the next try needs another key.
      const next = await this.#change(block, { attempts: block.attempts + 1 });
      if (next === 'overtaken') return next;
      throw new Error(`Stripe has failed to charge ${invoiceId}.`);
    }
    if (after.waitsFor === 'customer') {
      return this.#change(block, { state: 'action_required', waitsSince: clock.now() });
    }
    return this.#change(block, { state: 'voiding' });
  }

  async #awaitCustomer(block: Block) {
    const { gateway, clock } = this.#deps;
    const since = block.waitsSince ?? block.updatedAt;
    const until = new Date(since.getTime() + CONFIRM_MS);
    const invoice = await gateway.invoice(invoiceOf(block), block.priceCents);
    if (invoice.status !== 'open') return this.#conclude(block, invoice);
    if (clock.now() >= until) return this.#change(block, { state: 'voiding' });
    const { units, priceCents: amountCents } = block;
    const payUrl = invoice.hostedUrl ?? '';
    await this.#mail(block, 'action', {
      kind: 'overage-action-required',
      values: { units, amountCents, payUrl, until: until.toISOString() },
    });
    const next = new Date(clock.now().getTime() + HOUR_MS);
    return next < until ? next : until;
  }

  async #void(block: Block) {
    const { gateway } = this.#deps;
    const invoiceId = invoiceOf(block);
    await gateway.void(invoiceId, keyOf(block, 'void'));
    const invoice = await gateway.invoice(invoiceId, block.priceCents);
    if (invoice.status === 'open') throw new Error(`The invoice ${invoiceId} could not be voided.`);
    return this.#conclude(block, invoice);
  }

  /** Concludes by an invoice that is not open any more; copies it, as no event may lead to its account later. */
  async #conclude(block: Block, { status, proof }: Pick<BlockInvoice, 'status' | 'proof'>) {
    const { gateway, mirror } = this.#deps;
    await mirror.add(block.accountId, [await gateway.snapshot(invoiceOf(block))]);
    if (proof !== undefined) return this.#change(block, paidBy(proof));
    return status === 'paid' ? this.#leaveToOperator(block) : this.#fail(block);
  }

  async #checkAtPage(block: Block) {
    const { gateway, clock } = this.#deps;
    const { sessionId, expiresAt, createdAt } = block;
    if (sessionId === undefined || expiresAt === undefined) {
      // The process that was making the page has died, or is still making it.
      const until = new Date(createdAt.getTime() + KEY_MS);
      return clock.now() > until ? this.#change(block, { state: 'failed' }) : until;
    }
    const page = await gateway.page(sessionId);
    if (page.status === 'over') return this.#change(block, { state: 'failed' });
    const later = new Date(Math.max(expiresAt.getTime(), clock.now().getTime()) + BANK_MS);
    if (page.status === 'open') return later;
    const { invoiceId } = page;
    const proof = await gateway.proofOfPage(page, block.priceCents);
    if (proof !== undefined) {
      return this.#change(block, { ...paidBy(proof), ...(invoiceId !== undefined && { invoiceId }) });
    }
    if (invoiceId === undefined) return later;
    this.#reportUnproven(block, invoiceId);
    return new Date(clock.now().getTime() + HOUR_MS);
  }

  async #grant(block: Block) {
    const { blockLedger, buyer, clock } = this.#deps;
    const facts = await buyer(block.accountId);
    if (facts === undefined) return this.#change(block, { state: 'granted' });
    const { quota, quotaWindow } = facts;
    const now = clock.now();
    const counting = { period: quotaPeriod(now, quotaWindow), quota };
    const endsAt = endOfNextPeriod(now, quotaWindow);
    await blockLedger.grant(block.accountId, block._id, block.units, endsAt.getTime(), counting);
    // Before the block is final: after that no sweep would come back to send the mail.
    await this.#notifyOfPurchase(block);
    await this.#deps.onGranted?.(block.accountId);
    return this.#change(block, { state: 'granted', endsAt });
  }

  async #notifyOfPurchase(block: Block): Promise<void> {
    const { accountId, kind, units, priceCents: amountCents } = block;
    if (kind === 'by-hand') {
      await this.#mail(block, 'granted', { kind: 'overage-bought', values: { units, amountCents } });
      return;
    }
    const overage = (await this.#deps.blockLedger.find(accountId))?.overage;
    const { spentCents = amountCents, capCents = amountCents } = overage ?? {};
    await this.#mail(block, 'granted', {
      kind: 'overage-purchased',
      values: { units, amountCents, spentCents, capCents },
    });
  }

  /** Gives the reservation of the price back; nothing more is bought automatically until the owner switches it on again. */
  async #fail(block: Block) {
    const { units, priceCents: amountCents } = block;
    const mail = { kind: 'overage-failed', values: { units, amountCents } } as const;
    return this.#giveUp(block, 'failed', 'payment', mail);
  }

  /**
   * Stripe calls the block's invoice paid, but no payment of the whole price is found: perhaps it was paid elsewhere.
   * No units are granted for that, and the owner gets no mail saying that nothing was charged: an operator has to
   * check.
   */
  async #leaveToOperator(block: Block) {
    this.#reportUnproven(block, invoiceOf(block));
    const because = 'unproven';
    return this.#giveUp(block, because, because, { kind: 'auto-overage-disabled', values: { because } });
  }

  #reportUnproven({ _id: blockId, accountId }: Block, invoiceId: string): void {
    const { logger, observeError } = this.#deps;
    logger.error({ blockId, accountId, invoiceId }, 'block is called paid, but no payment is found');
    observeError?.('unproven');
  }

  async #giveUp(block: Block, what: string, because: DisabledBecause, mail: BlockMail) {
    const { blockLedger } = this.#deps;
    await blockLedger.disable(block.accountId, because, block._id);
    await this.#mail(block, what, mail);
    await blockLedger.release(block.accountId, block._id);
    return this.#change(block, { state: 'failed' });
  }

  async #mail(block: Block, what: string, mail: BlockMail): Promise<void> {
    const { outbox, buyer } = this.#deps;
    const to = (await buyer(block.accountId))?.email;
    if (to === null || to === undefined) return;
    await outbox.enqueue({ id: `${block._id}:${what}`, accountId: block.accountId, to, ...mail });
  }

  async #change(block: Block, changes: Parameters<BlockStore['change']>[1]): Promise<Block | 'overtaken'> {
    return (await this.#deps.blocks.change(block, changes)) ?? 'overtaken';
  }
}

type Enqueued = Parameters<MailOutbox['enqueue']>[0];
type BlockMail = {
  [M in Enqueued as M['kind']]: Pick<M, 'kind' | 'values'>;
}[Extract<Enqueued['kind'], `${string}overage${string}`>];

/** Without a payment there is nothing that a refund or a dispute could take back. */
function paidBy({ intentId }: BlockProof): Parameters<BlockStore['change']>[1] {
  return { state: 'paid', ...(intentId !== undefined && { intentId }) };
}

/** The same key for the same step, until Stripe has failed at it. */
function keyOf({ _id, attempts }: Block, what: string): string {
  return `${_id}:${what}:${attempts}`;
}

function invoiceOf({ _id, invoiceId }: Block): string {
  if (invoiceId === undefined) throw new Error(`Block ${_id} has no invoice.`);
  return invoiceId;
}

/**
 * When the period after the present one ends: on the day of the month on which periods begin, or on that month's last
 * day. The present period's two ends may differ in their day, if one lies in a short month: the later day counts.
 */
function endOfNextPeriod(now: Date, window: QuotaWindow | null): Date {
  const end = quotaResetDate(now, window);
  const day = Math.max(end.getUTCDate(), window?.start.getUTCDate() ?? 1);
  const later = new Date(end);
  later.setUTCMonth(end.getUTCMonth() + 2, 0);
  if (day < later.getUTCDate()) later.setUTCDate(day);
  return later;
}
