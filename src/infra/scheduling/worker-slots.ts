import { type AccountFilter, FairQueue, type Permit, type PermitRequest } from './fair-queue.ts';
import { RecentAccounts } from './recent-accounts.ts';
import { spareFilters } from './spare-permit.ts';

/** A render that takes longer is slow, in milliseconds. */
const SLOW_RENDER_MS = 3000;
/** One slot of this many, and at least one, is kept for quick accounts and interactive jobs. */
const SLOTS_PER_KEPT = 4;
/** With at least so many slots, a worker keeps the last one for accounts that hold none. */
const SLOTS_FOR_NEWCOMER = 8;
/** One of this many computing renders, and at least one, may be a bulk job while interactive jobs arrive. */
const COMPUTING_PER_BULK = 4;
/** Slots are kept for quick accounts for this time after a quick account has requested one, in milliseconds. */
const KEPT_FOR_MS = 60_000;
/** Slots are kept for interactive jobs for this time after an interactive job has arrived, in milliseconds. */
const KEPT_FOR_INTERACTIVE_MS = 5000;

/** Number of spare slots, besides the slots. A worker with one slot is to render one job at a time, and has none. */
export function spareSlots(slots: number): number {
  return slots === 1 ? 0 : 1;
}

interface WorkerSlotsOptions {
  /** Called with the number of busy slots, whenever that changes. */
  readonly onBusy?: (busy: number) => void;
  /** Milliseconds of a clock that never goes back. Default: the process's own. */
  readonly now?: (() => number) | undefined;
  /** Renders that may compute concurrently; renders that are blocked on I/O do not compute. Default: all slots. */
  readonly computing?: number;
}

/**
 * The slots of one worker: at most `total` renders run concurrently, and at most `computing` of them are not blocked on
 * I/O. Some slots are kept from accounts with slow renders while there are quick accounts, and from bulk jobs while
 * there are interactive jobs.
 */
export class WorkerSlots extends FairQueue {
  /** Renders that run concurrently, without the spare slot. */
  readonly total: number;
  readonly #computing: number;
  /** Accounts that were quick when they requested a slot. */
  readonly #quick = new RecentAccounts(KEPT_FOR_MS);
  #blocked = 0;
  #lastInteractive = Number.NEGATIVE_INFINITY;

  constructor(total: number, { onBusy, now, computing = total }: WorkerSlotsOptions = {}) {
    super({ usage: { slowMs: SLOW_RENDER_MS, now }, onTaken: onBusy });
    this.total = total;
    this.#computing = computing;
  }

  /** Sets how many renders are blocked on the network, a delay or the like: others may begin meanwhile. */
  setBlocked(renders: number): void {
    this.#blocked = renders;
    this.grant();
  }

  override acquire(request: PermitRequest, signal?: AbortSignal): Promise<Permit> {
    const now = this.usage.now();
    if (request.priority !== 'bulk') this.#lastInteractive = now;
    if (!this.usage.isSlow(request.account)) this.#quick.note(request.account, now);
    return super.acquire(request, signal);
  }

  protected override get capacity(): number {
    return this.total + this.#spare;
  }

  protected override mayServeBulk(isDue: boolean): boolean {
    const notKept = withoutKept(this.total);
    const bulk = this.takenBy('bulk');
    if (isDue) return bulk < notKept;
    if (this.usage.now() - this.#lastInteractive > KEPT_FOR_INTERACTIVE_MS) return true;
    const computing = Math.max(1, Math.floor(this.#computing / COMPUTING_PER_BULK));
    return bulk < Math.min(notKept, computing + this.#blocked);
  }

  /** Number of spare slots: one while every slot's account is slow, or has all of its renders paused. */
  get #spare(): number {
    const { heldByAccount, taken, usage } = this;
    if (taken < this.total) return 0;
    for (const account of heldByAccount.keys())
      if (!usage.isSlow(account) && !usage.isPaused(account)) return 0;
    return spareSlots(this.total);
  }

  protected override eligible(): readonly AccountFilter[] {
    const { heldByAccount, taken, usage } = this;
    if (taken >= this.total) return spareFilters(this);
    const mayCompute = taken - this.#blocked < this.#computing;
    const isLast = this.total >= SLOTS_FOR_NEWCOMER && taken === this.total - 1;
    const holderMayStart = mayCompute && !isLast;
    const quickMayCome = mayCompute || this.#quickAccounts() < this.#computing;
    const slowMayStart = mayCompute && this.#slowMayStart(this.#notKept);
    const slowMayCome =
      slowMayStart || (heldByAccount.size < this.#computing && this.#slowMayStart(withoutKept(this.total)));
    if (!(holderMayStart || quickMayCome || slowMayCome)) return [];
    const mayStart = (account: string) => {
      const isSlow = usage.isSlow(account);
      if (heldByAccount.has(account)) return holderMayStart && (slowMayStart || !isSlow);
      return isSlow ? slowMayCome : quickMayCome;
    };
    return [mayStart];
  }

  #quickAccounts(): number {
    let quick = 0;
    for (const account of this.heldByAccount.keys()) if (!this.usage.isSlow(account)) quick += 1;
    return quick;
  }

  /** @param most slots that accounts with slow renders may have while a quick account is active. */
  #slowMayStart(most: number): boolean {
    const { heldByAccount, usage } = this;
    if (!this.#quick.some((account) => !usage.isSlow(account), usage.now())) return true;
    let slow = 0;
    for (const [account, slots] of heldByAccount) if (usage.isSlow(account)) slow += slots;
    return slow < most;
  }

  /** Slots that are open to all accounts. Some permits to compute are also kept; blocked renders do not need them. */
  get #notKept(): number {
    return Math.min(withoutKept(this.total), withoutKept(this.#computing) + this.#blocked);
  }
}

/** The number of slots without the kept ones. */
function withoutKept(slots: number): number {
  return slots === 1 ? 1 : slots - Math.ceil(slots / SLOTS_PER_KEPT);
}
