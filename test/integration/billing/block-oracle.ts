import assert from 'node:assert/strict';
import type { Block, BlockState } from '../../../src/billing/blocks/block-store.ts';
import { PlatenError } from '../../../src/infra/errors/registry.ts';
import { type Period, quotaPeriod } from '../../../src/tenants/plans/quota-period.ts';
import { BlockLedger } from '../../../src/work/jobs/blocks/block-ledger.ts';
import { QuotaExtension } from '../../../src/work/jobs/blocks/quota-extension.ts';
import { countedFor, type LedgerBlock } from '../../../src/work/jobs/ledger/block-balance.ts';
import type { LedgerRecord } from '../../../src/work/jobs/ledger/ledger-record.ts';
import { openLedgers } from '../../../src/work/jobs/ledger/ledger-record.ts';
import type { Books } from '../../support/stripe/books.ts';
import type * as R from '../../support/stripe/records.ts';
import type { Life, LifeRig } from './life-rig.ts';

/** A block that is used up, or over, is forgotten some time after: no sooner than this, in milliseconds. */
const REMEMBERED_MS = 118 * 24 * 3_600_000;
/** How long a requested page may still come, in milliseconds; a rejected page looks the same. */
const PAGE_MS = 23 * 3_600_000;
/** A gate that is set stays so: requests do not wait for a decision elsewhere. */
const NO_WAIT_MS = -1;
const GRANTED: readonly BlockState[] = ['granted', 'frozen', 'reversed'];

/** What Stripe knows of a block: the invoices for it, and the money that was taken for them. */
interface Dealings {
  readonly invoices: readonly R.Invoice[];
  readonly charges: readonly R.Charge[];
}

/**
 * Uses up an account's quota by concurrent requests, keeps its own record of decisions and usage, and checks everything
 * that Platen has written about blocks against that record and against Stripe's books: at most one charge for a block;
 * units granted for paid blocks, and taken back, or frozen, with the money; the amount spent in a billing period is the
 * price of the blocks that did not fail, and is never above the cap.
 */
export class BlockOracle {
  readonly #life: Life;
  readonly #rig: LifeRig;
  readonly #processes: readonly QuotaExtension[];
  /** By block: the billing period that its purchase was decided in. */
  readonly #cycles = new Map<string, string>();
  /** By billing period: the highest cap that a purchase was decided under. */
  readonly #caps = new Map<string, number>();
  /** By quota period: the largest quota that there was in it. */
  readonly #quotas = new Map<string, number>();
  #usedOfBlocks = 0;

  constructor(life: Life, rig: LifeRig) {
    this.#life = life;
    this.#rig = rig;
    const { clock } = life;
    this.#processes = [1, 2].map(
      () => new QuotaExtension(new BlockLedger(openLedgers(rig.connection), clock), clock, NO_WAIT_MS),
    );
  }

  /** Uses the rest of the period's quota and of the bought blocks. */
  async useUp(): Promise<void> {
    const { billing, accountId } = this.#life;
    const { period, limit } = await this.#quota();
    const left = await billing.blockLedger.left(accountId, period, limit);
    const { quota } = (await billing.blockLedger.find(accountId)) ?? {};
    this.#usedOfBlocks += left - Math.max(0, limit - (quota?.[period] ?? 0));
    const change = {
      $inc: { [`quota.${period}`]: left, revision: 1 },
      $setOnInsert: { inFlight: 0, waiting: 0 },
    };
    await this.#rig.connection
      .collection<{ _id: string }>('ledgers')
      .updateOne({ _id: accountId }, change, { upsert: true });
  }

  /** Sends `count` requests at once, to two processes. @returns the outcome of each. */
  async request(count: number): Promise<('let in' | 'told to retry' | 'refused')[]> {
    const quota = await this.#quota();
    const { accountId } = this.#life;
    const responses = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        try {
          const more = await this.#processes[index % 2]!.more(accountId, quota, 1, performance.now());
          return more === undefined ? 'refused' : 'let in';
        } catch (error) {
          if (error instanceof PlatenError && error.code === 'OVERAGE_PENDING') return 'told to retry';
          throw error;
        }
      }),
    );
    await this.#watch();
    return responses;
  }

  async #quota(): Promise<{ period: Period; limit: number }> {
    const { plan, quotaWindow } = (await this.#rig.accounts.find(this.#life.accountId))!;
    const period = quotaPeriod(this.#life.clock.now(), quotaWindow);
    const limit = this.#rig.plans.plan(plan).monthlyRenders;
    this.#quotas.set(period, Math.max(limit, this.#quotas.get(period) ?? 0));
    return { period, limit };
  }

  /** Notes what was decided, and that it was within the cap. */
  async #watch(): Promise<void> {
    const { overage } = (await this.#life.billing.blockLedger.find(this.#life.accountId)) ?? {};
    if (overage?.purchase === undefined || this.#cycles.has(overage.purchase.blockId)) return;
    const { cycle, blockId } = overage.purchase;
    assert.ok(overage.spentCents <= overage.capCents, `${overage.spentCents} is beyond ${overage.capCents}`);
    this.#cycles.set(blockId, cycle);
    this.#caps.set(cycle, Math.max(overage.capCents, this.#caps.get(cycle) ?? 0));
  }

  /** Once all that is due was done. */
  async check(): Promise<void> {
    const { accountId, billing, standIn } = this.#life;
    const blocks = await this.blocks();
    const record = await billing.blockLedger.find(accountId);
    const ids = blocks.map(({ _id }) => _id);
    for (const { id, metadata } of standIn.books.invoices.values())
      assert.ok(metadata.blockId === undefined || ids.includes(metadata.blockId), `${id} is for no block`);
    for (const id of Object.keys(record?.blockBalance?.blocks ?? {}))
      assert.ok(ids.includes(id), `${id} was granted and is no block`);
    for (const block of blocks) this.#checkBlock(block, record);
    this.#checkSpent(blocks, record);
    this.#checkUnits(blocks, record);
  }

  /** All that there are of the account, the oldest first. */
  blocks(): Promise<Block[]> {
    const { accountId } = this.#life;
    const blocks = this.#rig.connection.collection<Block>('billing_blocks');
    return blocks.find({ accountId }).sort({ createdAt: 1 }).toArray();
  }

  #checkBlock(block: Block, record: LedgerRecord | undefined): void {
    const { _id, state, kind, priceCents } = block;
    const { books } = this.#life.standIn;
    const dealings = dealingsOf(books, _id);
    assert.ok(dealings.charges.length <= 1, `${_id} was charged ${dealings.charges.length} times`);
    for (const { amount } of dealings.charges) assert.equal(amount, priceCents, `the charge for ${_id}`);
    const paid = dealings.invoices.filter(({ status }) => status === 'paid');
    assert.equal(paid.length, dealings.charges.length, `the paid invoices for ${_id}`);
    const expected = expectedState(books, block, dealings, this.#life.clock.now());
    assert.equal(state, expected, `the state of ${_id} (${kind})`);
    if (kind === 'auto') {
      assert.ok(this.#cycles.has(_id), `nobody has decided to buy ${_id}`);
      const held = record?.overage?.purchase?.blockId === _id;
      assert.equal(held, state === 'action_required', `whether ${_id} (${state}) holds the purchase`);
    }
    this.#checkGranted(block, this.#presentOf(record)[_id], dealings.charges[0]);
  }

  #checkGranted(
    { _id, state, units, createdAt }: Block,
    granted: LedgerBlock | undefined,
    charge: R.Charge | undefined,
  ): void {
    if (!GRANTED.includes(state)) {
      assert.equal(granted, undefined, `${_id} (${state}) was granted`);
    } else if (granted === undefined) {
      const age = this.#life.clock.now().getTime() - createdAt.getTime();
      assert.ok(age > REMEMBERED_MS, `${_id} (${state}) was not granted`);
    } else {
      assert.equal(granted.frozen ?? false, state === 'frozen', `whether ${_id} is frozen`);
      const { left, withdrawn = 0 } = granted;
      const back = state === 'reversed' ? units : partBack(this.#life.standIn.books, units, charge);
      assert.ok(
        left <= units - back && withdrawn <= back,
        `${left} are left of ${_id}, ${withdrawn} withdrawn`,
      );
      assert.ok(left === 0 || withdrawn === back, `of ${_id} ${withdrawn} are taken back, and not ${back}`);
    }
  }

  /** The granted units less the used ones; zero for expired blocks. */
  #presentOf(record: LedgerRecord | undefined): Readonly<Record<string, LedgerBlock>> {
    if (record?.blockBalance === undefined) return {};
    const { blockBalance, quota } = record;
    return countedFor(blockBalance, quota, blockBalance, this.#life.clock.now().getTime()).blocks;
  }

  #checkSpent(blocks: readonly Block[], record: LedgerRecord | undefined): void {
    const spent = new Map<string, number>();
    for (const { _id, state, priceCents } of blocks) {
      const cycle = this.#cycles.get(_id);
      if (cycle === undefined || state === 'failed') continue;
      spent.set(cycle, (spent.get(cycle) ?? 0) + priceCents);
    }
    for (const [cycle, cents] of spent)
      assert.ok(cents <= this.#caps.get(cycle)!, `${cents} cents were spent in ${cycle}`);
    if (record?.overage === undefined) return;
    const { cycle, spentCents } = record.overage;
    assert.equal(spentCents, spent.get(cycle) ?? 0, 'what is noted as spent');
  }

  /** No PDF beyond the quota without a block that it came from, and none of a block lost but by its use. */
  #checkUnits(blocks: readonly Block[], record: LedgerRecord | undefined): void {
    const { blockBalance, quota = {} } = record ?? {};
    if (blockBalance === undefined) return;
    const now = this.#life.clock.now().getTime();
    const present = this.#presentOf(record);
    const usable = blocks.filter(({ _id, state }) => state !== 'reversed' && present[_id] !== undefined);
    const left = sum(usable.map(({ _id }) => present[_id]!.left));
    const granted = sum(blocks.filter(({ state }) => GRANTED.includes(state)).map(({ units }) => units));
    const beyond = sum(
      Object.entries(quota).map(([period, used]) => Math.max(0, used - (this.#quotas.get(period) ?? used))),
    );
    assert.ok(beyond + left <= granted, `${beyond} used and ${left} left of ${granted} PDFs`);
    // What ended unused is lost.
    const whole = usable.filter(({ _id }) => present[_id]!.until > now);
    const least = sum(whole.map(({ units }) => units)) - this.#usedOfBlocks;
    // What was taken back was not used either.
    const most = sum(whole.map(({ _id }) => present[_id]!.left + (present[_id]!.withdrawn ?? 0)));
    assert.ok(most >= least, `${most} PDFs are left, and ${least} were not used`);
  }
}

function dealingsOf(books: Books, blockId: string): Dealings {
  const invoices = [...books.invoices.values()].filter(({ metadata }) => metadata.blockId === blockId);
  const ids = new Set(invoices.map(({ id }) => id));
  const intents = new Set(
    [...books.invoicePayments.values()]
      .filter(({ invoice }) => ids.has(invoice))
      .map(({ payment }) => payment.payment_intent),
  );
  const charges = [...books.charges.values()].filter(
    ({ paid, payment_intent: intent }) => paid && intents.has(intent),
  );
  return { invoices, charges };
}

/** Where a block stands once all is done, by Stripe's books alone. */
function expectedState(
  books: Books,
  block: Block,
  { invoices, charges: [charge] }: Dealings,
  now: Date,
): BlockState {
  if (charge !== undefined) {
    const disputes = [...books.disputes.values()].filter((dispute) => dispute.charge === charge.id);
    const lost = disputes.some(({ status }) => status === 'lost');
    if (refundedOf(books, charge) >= charge.amount || lost) return 'reversed';
    return disputes.some(({ status }) => status === 'needs_response') ? 'frozen' : 'granted';
  }
  if (block.kind === 'auto')
    return invoices.some(({ status }) => status === 'open') ? 'action_required' : 'failed';
  if (block.sessionId === undefined)
    return now.getTime() - block.createdAt.getTime() > PAGE_MS ? 'failed' : 'reserved';
  return books.sessions.get(block.sessionId)?.status === 'open' ? 'reserved' : 'failed';
}

function refundedOf(books: Books, { id }: R.Charge): number {
  const refunds = [...books.refunds.values()].filter(
    ({ charge, status }) => charge === id && status !== 'failed',
  );
  return sum(refunds.map(({ amount }) => amount));
}

/** PDFs that the refunded part of a payment has paid for, rounded down. */
function partBack(books: Books, units: number, charge: R.Charge | undefined): number {
  return charge === undefined ? 0 : Math.floor((units * refundedOf(books, charge)) / charge.amount);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
