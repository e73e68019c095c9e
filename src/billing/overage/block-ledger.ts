import type { Clock } from '../../clock.ts';
import type { Purchases } from '../../jobs/ledger/purchases.ts';
import type { DisabledBecause } from '../../mail/mail.ts';
import type { MailOutbox } from '../../mail/outbox.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { type QuotaWindow, quotaPeriod, quotaResetDate } from '../../usage/quota-period.ts';
import type { InvoiceMirror } from '../invoice-mirror.ts';
import { holding } from '../leases.ts';
import type { BlockInvoice, BlockProof, StripeBlocks } from '../stripe-blocks.ts';
import { hasFailed, isRefusal } from '../stripe-gateway.ts';
import type { Block, BlockState, BlockStore } from './block-store.ts';

/** What of an account decides how a block is paid and used. */
export interface BuyerFacts {
  readonly customerId: string | undefined;
  readonly email: string | null;
  /** PDFs of its plan a period. */
  readonly quota: number;
  readonly quotaWindow: QuotaWindow | null;
}

export interface BlockLedgerParts {
  readonly blocks: BlockStore;
  readonly purchases: Purchases;
  readonly gateway: StripeBlocks;
  readonly mirror: Pick<InvoiceMirror, 'add'>;
  /** Undefined for an account that is gone. */
  readonly buyer: (accountId: string) => Promise<BuyerFacts | undefined>;
  readonly outbox: Pick<MailOutbox, 'enqueue'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told of a block that an operator has to look at. */
  readonly observeFault?: ((kind: 'unproven' | 'refused') => void) | undefined;
}

/** Its key at Stripe may not be known any more: it is looked whether there is an invoice already. */
const KEY_MS = 23 * 3_600_000;
/** How long the customer has to confirm a payment that the bank asks about. */
const CONFIRM_MS = 23 * 3_600_000;
const HOUR_MS = 3_600_000;
const BANK_MS = 60_000;
const AT_ONCE = 20;
/** Until its invoice is open nothing can be paid: what is refused here is given up after this many tries and one. */
const PREPARING: readonly BlockState[] = ['reserved', 'drafted'];
const MOST_ATTEMPTS = 3;

/**
 * Brings blocks from one state to the next (block-store.ts has the picture). Each step is one call with a key of its own,
 * and is noted before the next; a crash anywhere has the step done again, which changes nothing more. An error while paying
 * says nothing about the payment: the invoice is read, and only that decides. Units are given for a payment that has
 * succeeded, for the whole amount, and for nothing else.
 */
export class BlockLedger {
  readonly #parts: BlockLedgerParts;

  constructor(parts: BlockLedgerParts) {
    this.#parts = parts;
  }

  /** Makes records of what the gates have decided, and goes on with what is due. @returns how many were looked at. */
  async sweep(): Promise<number> {
    const { blocks, purchases } = this.#parts;
    for (const { _id: accountId, overage } of await purchases.gated()) {
      if (overage?.gate === undefined) continue;
      const { blockId, units, priceCents } = overage.gate;
      if ((await blocks.find(blockId)) !== undefined) continue;
      await blocks.add({ _id: blockId, accountId, kind: 'auto', units, priceCents });
    }
    const due = await blocks.due(AT_ONCE);
    await Promise.all(
      due.map(async (block) => {
        const claimed = await blocks.claim(block);
        if (claimed !== undefined)
          await holding(
            () => blocks.renew(claimed),
            () => this.#goOn(claimed),
          );
      }),
    );
    return due.length;
  }

  /** What is left of blocks whose time is over is lost, also where nobody asks for the quota then. */
  async lapse(): Promise<void> {
    const { blocks, purchases } = this.#parts;
    for (const { _id, accountId } of await blocks.ending(AT_ONCE)) {
      await purchases.lapse(accountId);
      await blocks.ended(_id);
    }
  }

  async #goOn(claimed: Block): Promise<void> {
    const { blocks, logger } = this.#parts;
    try {
      let block: Block | undefined = claimed;
      for (;;) {
        const next = await this.#tryStep(block);
        if (next === 'overtaken') return;
        if (next instanceof Date || next === 'rests') {
          await blocks.leave(block, next === 'rests' ? undefined : next);
          return;
        }
        block = next;
      }
    } catch (error) {
      logger.warn({ err: error, blockId: claimed._id }, 'block could not be gone on with');
      // Stripe keeps failures and refusals as the answer of the key: the next try looks at what is, and has another one.
      if (hasFailed(error) || isRefusal(error)) await blocks.failedAt(claimed);
      await blocks.postpone(claimed);
    }
  }

  /** Like `#step`; ends a purchase that Stripe refuses to prepare, since everybody waits for it meanwhile. */
  async #tryStep(block: Block) {
    try {
      return await this.#step(block);
    } catch (error) {
      const may = block.kind === 'auto' && PREPARING.includes(block.state);
      if (!may || !isRefusal(error) || block.attempts < MOST_ATTEMPTS) throw error;
      return this.#abandon(block, error);
    }
  }

  async #abandon(block: Block, error: unknown) {
    const { gateway, logger, observeFault } = this.#parts;
    const { _id: blockId, accountId, invoiceId } = block;
    if (invoiceId !== undefined && !(await gateway.discard(invoiceId))) throw error;
    logger.error({ err: error, blockId, accountId, invoiceId }, 'block is given up: its invoice is refused');
    observeFault?.('refused');
    return this.#fail(block);
  }

  /** @returns the block in its next state, until when it waits, or that it is over. */
  async #step(block: Block): Promise<Block | Date | 'rests' | 'overtaken'> {
    switch (block.state) {
      case 'reserved':
        return block.kind === 'auto' ? this.#draft(block) : this.#lookAtPage(block);
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
        return 'rests';
    }
  }

  async #draft(block: Block) {
    const { gateway, buyer, clock } = this.#parts;
    const customerId = (await buyer(block.accountId))?.customerId;
    if (customerId === undefined) return this.#fail(block);
    const old = clock.now().getTime() - block.createdAt.getTime() > KEY_MS;
    const look = old || block.attempts > 0;
    const known = look ? await gateway.find(customerId, block._id, block.createdAt) : undefined;
    // Another customer is another call: the account's first one may have been deleted meanwhile.
    const key = keyOf(block, `create:${customerId}`);
    const invoiceId = known ?? (await gateway.draft(customerId, block._id, key));
    return this.#change(block, { state: 'drafted', invoiceId });
  }

  async #finalise(block: Block) {
    await this.#parts.gateway.finalise(invoiceOf(block), block, (what) => keyOf(block, what));
    return this.#change(block, { state: 'paying' });
  }

  async #pay(block: Block) {
    const { gateway, buyer, clock } = this.#parts;
    const invoiceId = invoiceOf(block);
    const before = await gateway.invoice(invoiceId, block.priceCents);
    if (before.status !== 'open') return this.#conclude(block, before);
    if (before.waitsFor === 'bank') return new Date(clock.now().getTime() + BANK_MS);
    const customerId = (await buyer(block.accountId))?.customerId;
    if (customerId === undefined) return this.#change(block, { state: 'voiding' });
    const answer = await gateway.pay(customerId, invoiceId, keyOf(block, 'pay'));
    const after = await gateway.invoice(invoiceId, block.priceCents);
    if (after.status !== 'open') return this.#conclude(block, after);
    if (after.waitsFor === 'bank') return new Date(clock.now().getTime() + BANK_MS);
    if (answer === 'unclear') {
      // The invoice is not paid: another key.
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
    const { gateway, clock } = this.#parts;
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
    const { gateway } = this.#parts;
    const invoiceId = invoiceOf(block);
    await gateway.void(invoiceId, keyOf(block, 'void'));
    const invoice = await gateway.invoice(invoiceId, block.priceCents);
    if (invoice.status === 'open') throw new Error(`The invoice ${invoiceId} could not be voided.`);
    return this.#conclude(block, invoice);
  }

  /**
   * By an invoice that is no longer open. It is mirrored here: of a customer who has been deleted no event leads to the
   * account any more.
   */
  async #conclude(block: Block, { status, proof }: Pick<BlockInvoice, 'status' | 'proof'>) {
    const { gateway, mirror } = this.#parts;
    await mirror.add(block.accountId, [await gateway.snapshot(invoiceOf(block))]);
    if (proof !== undefined) return this.#change(block, paidBy(proof));
    return status === 'paid' ? this.#leaveToOperator(block) : this.#fail(block);
  }

  async #lookAtPage(block: Block) {
    const { gateway, clock } = this.#parts;
    const { sessionId, expiresAt, createdAt } = block;
    if (sessionId === undefined || expiresAt === undefined) {
      // Whoever was making the page has died, or is at it.
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
    this.#tellUnproven(block, invoiceId);
    return new Date(clock.now().getTime() + HOUR_MS);
  }

  async #grant(block: Block) {
    const { purchases, buyer, clock } = this.#parts;
    const facts = await buyer(block.accountId);
    if (facts === undefined) return this.#change(block, { state: 'granted' });
    const { quota, quotaWindow } = facts;
    const now = clock.now();
    const counting = { period: quotaPeriod(now, quotaWindow), quota };
    const endsAt = endOfNextPeriod(now, quotaWindow);
    await purchases.grant(block.accountId, block._id, block.units, endsAt.getTime(), counting);
    // Before the block comes to rest: nobody would come back to tell of it.
    await this.#tellOfPurchase(block);
    return this.#change(block, { state: 'granted', endsAt });
  }

  async #tellOfPurchase(block: Block): Promise<void> {
    const { accountId, kind, units, priceCents: amountCents } = block;
    if (kind === 'by-hand') {
      await this.#mail(block, 'granted', { kind: 'overage-bought', values: { units, amountCents } });
      return;
    }
    const overage = (await this.#parts.purchases.find(accountId))?.overage;
    const { spentCents = amountCents, capCents = amountCents } = overage ?? {};
    await this.#mail(block, 'granted', {
      kind: 'overage-purchased',
      values: { units, amountCents, spentCents, capCents },
    });
  }

  /** What the gate holds is given back, and nothing more is bought by itself until the owner turns it on again. */
  async #fail(block: Block) {
    const { units, priceCents: amountCents } = block;
    const mail = { kind: 'overage-failed', values: { units, amountCents } } as const;
    return this.#giveUp(block, 'failed', 'payment', mail);
  }

  /**
   * Stripe calls its invoice paid, and no payment of the whole price is found: perhaps it was paid elsewhere. No units are
   * given for that, and nobody is told that nothing was charged: an operator is to look.
   */
  async #leaveToOperator(block: Block) {
    this.#tellUnproven(block, invoiceOf(block));
    const because = 'unproven';
    return this.#giveUp(block, because, because, { kind: 'auto-overage-disabled', values: { because } });
  }

  #tellUnproven({ _id: blockId, accountId }: Block, invoiceId: string): void {
    const { logger, observeFault } = this.#parts;
    logger.error({ blockId, accountId, invoiceId }, 'block is called paid, and no payment is found');
    observeFault?.('unproven');
  }

  async #giveUp(block: Block, what: string, because: DisabledBecause, mail: BlockMail) {
    const { purchases } = this.#parts;
    await purchases.disable(block.accountId, because, block._id);
    await this.#mail(block, what, mail);
    await purchases.release(block.accountId, block._id);
    return this.#change(block, { state: 'failed' });
  }

  async #mail(block: Block, what: string, mail: BlockMail): Promise<void> {
    const { outbox, buyer } = this.#parts;
    const to = (await buyer(block.accountId))?.email;
    if (to === null || to === undefined) return;
    await outbox.enqueue({ id: `${block._id}:${what}`, accountId: block.accountId, to, ...mail });
  }

  async #change(block: Block, changes: Parameters<BlockStore['change']>[1]): Promise<Block | 'overtaken'> {
    return (await this.#parts.blocks.change(block, changes)) ?? 'overtaken';
  }
}

type Enqueued = Parameters<MailOutbox['enqueue']>[0];
type BlockMail = {
  [M in Enqueued as M['kind']]: Pick<M, 'kind' | 'values'>;
}[
  | 'overage-purchased'
  | 'overage-bought'
  | 'overage-failed'
  | 'overage-action-required'
  | 'auto-overage-disabled'];

/** Without a payment there is nothing that a refund or a dispute could take back. */
function paidBy({ intentId }: BlockProof): Parameters<BlockStore['change']>[1] {
  return { state: 'paid', ...(intentId !== undefined && { intentId }) };
}

/** The same for the same step, until Stripe has failed at it. */
function keyOf({ _id, attempts }: Block, what: string): string {
  return `${_id}:${what}:${attempts}`;
}

function invoiceOf({ _id, invoiceId }: Block): string {
  if (invoiceId === undefined) throw new Error(`Block ${_id} has no invoice.`);
  return invoiceId;
}

/**
 * When the period after the present one ends: on the day of the month that periods begin on, or on that month's last day.
 * Of the present one's two ends, the one in a short month may name an earlier day.
 */
function endOfNextPeriod(now: Date, window: QuotaWindow | null): Date {
  const end = quotaResetDate(now, window);
  const day = Math.max(end.getUTCDate(), window?.start.getUTCDate() ?? 1);
  const later = new Date(end);
  later.setUTCMonth(end.getUTCMonth() + 2, 0);
  if (day < later.getUTCDate()) later.setUTCDate(day);
  return later;
}
