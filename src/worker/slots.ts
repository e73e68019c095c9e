import { AccountUse, nextAtSpare, nextTurn } from '../async/account-use.ts';
import { JOB_CLASSES, type JobClass, type Slot } from '../bus/bus.ts';

/**
 * Of four slots that both classes want, bulk work gets one, unless it holds all but those that are kept: it is slowed by
 * interactive work, never starved.
 */
const BULK_EVERY = 4;
/** A render that takes longer is slow, in milliseconds. */
const SLOW_RENDER_MS = 3000;
/** Of so many slots one is kept for others, and one at least: see `#notKept`. */
const SLOTS_PER_KEPT = 4;
/** A worker with as many slots leaves the last of them to an account that holds none. With fewer it would cost too much. */
const SLOTS_FOR_NEWCOMER = 8;
/** Of so many renders that compute one may be a bulk job while interactive ones come, and one at least. */
const COMPUTING_PER_BULK = 4;
/** Slots are kept while there is somebody to keep them for: a quick account that has rendered within this time. */
const KEPT_FOR_MS = 60_000;
/** The same for interactive jobs, since the last one came. */
const KEPT_FOR_INTERACTIVE_MS = 5000;

/**
 * Renders that a worker lets in beyond its slots when accounts with slow renders have every one of them. Where there is one
 * slot, one thing at a time is rendered by intention.
 */
export function spareSlots(slots: number): number {
  return slots === 1 ? 0 : 1;
}

/** A slot that a render has. */
export interface WorkerSlot extends Slot {
  /** The render waits for something that others have: its account is not slow for that. */
  pause(): void;
  resume(): void;
}

interface Waiting {
  readonly account: string;
  readonly grant: (slot: WorkerSlot) => void;
}

export interface WorkerSlotsOptions {
  readonly onChange?: (busy: number) => void;
  /** Milliseconds of a clock that never goes back; the process's own unless said otherwise. */
  readonly now?: () => number;
  /** Of the renders at a time, how many may be something else than at rest. Default: all. */
  readonly computing?: number;
}

/**
 * The room of one worker: so many renders at a time, and of these so many that compute. Interactive jobs get their slots
 * first, with a floor for bulk ones; within a class the account that has held slots for the least time lately is next, and
 * of an account who came first.
 *
 * Accounts whose renders take seconds have all slots only as long as no account with quick ones is about: then some are
 * kept for it. So it waits for one slow render at most, and ordinarily for none. In the same way some slots are kept free
 * of bulk jobs while interactive ones keep coming. See docs/decisions/0112-fair-slots.md.
 *
 * Of an account that nobody knows yet, the renders that are there already tell: one that holds slots never gets the last,
 * and one that holds none is let in beside them though as many compute as may. See docs/decisions/0180-room-for-newcomers.md.
 * Where accounts that nobody knew have turned out to be slow, and have every slot, one render more is let in for others:
 * see docs/decisions/0227-a-spare-slot.md.
 */
export class WorkerSlots {
  readonly #total: number;
  readonly #computing: number;
  readonly #waiting: Record<JobClass, Set<Waiting>> = { interactive: new Set(), bulk: new Set() };
  readonly #onChange: (busy: number) => void;
  readonly #now: () => number;
  readonly #use: AccountUse;
  /** By account, how many slots it holds. */
  readonly #held = new Map<string, number>();
  /** When accounts last asked for a slot that were quick then; who asked last comes last. */
  readonly #seen = new Map<string, number>();
  #busy = 0;
  /** Of the busy slots, those with bulk jobs. */
  #bulk = 0;
  #resting = 0;
  #sinceBulk = 0;
  #lastInteractive = Number.NEGATIVE_INFINITY;

  constructor(
    total: number,
    { onChange = () => {}, now = () => performance.now(), computing = total }: WorkerSlotsOptions = {},
  ) {
    this.#total = total;
    this.#computing = computing;
    this.#onChange = onChange;
    this.#now = now;
    this.#use = new AccountUse({ slowMs: SLOW_RENDER_MS, strangerMs: 0, now });
  }

  get busy(): number {
    return this.#busy;
  }

  /** Lets in who may have come to be let in by the passing of time alone. To be called every now and then. */
  look(): void {
    this.#grant();
  }

  /** So many renders wait for the network, a delay or the like: others may begin beside them. */
  rest(renders: number): void {
    this.#resting = renders;
    this.#grant();
  }

  /**
   * Resolves with a slot as soon as it is this account's turn; rejects with the signal's reason when it aborts.
   *
   * @param account whose job it is for; those for nobody in particular count as one account.
   */
  reserve(jobClass: JobClass, signal: AbortSignal, account = ''): Promise<WorkerSlot> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const queue = this.#waiting[jobClass];
      const waiting: Waiting = {
        account,
        grant: (slot) => {
          signal.removeEventListener('abort', giveUp);
          resolve(slot);
        },
      };
      const giveUp = () => {
        queue.delete(waiting);
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#use.arrive(account, ...Object.values(this.#waiting));
      queue.add(waiting);
      if (jobClass === 'interactive') this.#lastInteractive = this.#now();
      this.#note(account);
      this.#grant();
    });
  }

  #grant(): void {
    while (this.#busy < this.#total + this.#spare) {
      const next = this.#next();
      if (next === undefined) return;
      this.#busy += 1;
      this.#onChange(this.#busy);
      next.waiting.grant(this.#slot(next.waiting.account, next.jobClass));
    }
  }

  get #spare(): number {
    if (this.#busy < this.#total) return 0;
    for (const account of this.#held.keys())
      if (!this.#use.isSlow(account) && !this.#use.isHeldUp(account)) return 0;
    return spareSlots(this.#total);
  }

  #next(): { readonly waiting: Waiting; readonly jobClass: JobClass } | undefined {
    const mayStart = this.#whoMayStart();
    const turnOf = (jobClass: JobClass) =>
      this.#busy < this.#total
        ? nextTurn(this.#waiting[jobClass], this.#use, mayStart)
        : nextAtSpare(this.#waiting[jobClass], this.#use, this.#use, (account) => !this.#held.has(account));
    const [interactive, bulk] = JOB_CLASSES.map(turnOf);
    // Who holds all but the slots that are kept for others is not starved.
    const bulkStarves = this.#sinceBulk >= BULK_EVERY - 1 && this.#bulk < withoutKept(this.#total);
    const bulksTurn = bulkStarves || (interactive === undefined && this.#bulkMayStart());
    const jobClass: JobClass = bulk !== undefined && bulksTurn ? 'bulk' : 'interactive';
    const waiting = jobClass === 'bulk' ? bulk : interactive;
    if (waiting === undefined) return undefined;
    if (jobClass === 'bulk') this.#sinceBulk = 0;
    else if (bulk !== undefined) this.#sinceBulk += 1;
    this.#waiting[jobClass].delete(waiting);
    return { waiting, jobClass };
  }

  /** Tells of an account whether it may have one of the slots that are free. */
  #whoMayStart(): (account: string) => boolean {
    const roomForAll = this.#busy - this.#resting < this.#computing;
    const keepsLast = this.#total >= SLOTS_FOR_NEWCOMER && this.#busy === this.#total - 1;
    const holderMayStart = roomForAll && !keepsLast;
    const quickMayCome = roomForAll || this.#quickAccounts() < this.#computing;
    const slowMayStart = roomForAll && this.#slowMayStart(this.#notKept);
    const slowMayCome =
      slowMayStart || (this.#held.size < this.#computing && this.#slowMayStart(withoutKept(this.#total)));
    return (account) => {
      const isSlow = this.#use.isSlow(account);
      if (this.#held.has(account)) return holderMayStart && (slowMayStart || !isSlow);
      return isSlow ? slowMayCome : quickMayCome;
    };
  }

  /** Accounts with renders here that are not known to be slow. */
  #quickAccounts(): number {
    let quick = 0;
    for (const account of this.#held.keys()) if (!this.#use.isSlow(account)) quick += 1;
    return quick;
  }

  /** Whether the next slot may go to a bulk job though it is not its turn: not the last ones while interactive jobs come. */
  #bulkMayStart(): boolean {
    const alone = this.#now() - this.#lastInteractive > KEPT_FOR_INTERACTIVE_MS;
    return alone || this.#bulk < Math.min(withoutKept(this.#total), this.#bulkComputing + this.#resting);
  }

  /** Of the renders that compute, those that may be bulk jobs while interactive ones come. */
  get #bulkComputing(): number {
    return Math.max(1, Math.floor(this.#computing / COMPUTING_PER_BULK));
  }

  /** Slots that are kept for nobody; of those that compute too some are, and renders at rest take none of these. */
  get #notKept(): number {
    return Math.min(withoutKept(this.#total), withoutKept(this.#computing) + this.#resting);
  }

  /** Whether accounts with slow renders may have another slot. @param most that they may have while a quick one is about. */
  #slowMayStart(most: number): boolean {
    if (!this.#isQuickAccountAbout()) return true;
    let slow = 0;
    for (const [account, slots] of this.#held) if (this.#use.isSlow(account)) slow += slots;
    return slow < most;
  }

  #note(account: string): void {
    if (this.#use.isSlow(account)) return;
    this.#seen.delete(account);
    this.#seen.set(account, this.#now());
  }

  #isQuickAccountAbout(): boolean {
    const since = this.#now() - KEPT_FOR_MS;
    for (const [account, at] of this.#seen) {
      if (at >= since && !this.#use.isSlow(account)) return true;
      this.#seen.delete(account);
    }
    return false;
  }

  #slot(account: string, jobClass: JobClass): WorkerSlot {
    if (jobClass === 'bulk') this.#bulk += 1;
    const use = this.#use.begin(account);
    this.#held.set(account, (this.#held.get(account) ?? 0) + 1);
    let held = true;
    return {
      pause: () => this.#use.pause(use),
      resume: () => this.#use.resume(use),
      release: () => {
        if (!held) return;
        held = false;
        this.#use.end(use);
        this.#giveBack(account);
        if (jobClass === 'bulk') this.#bulk -= 1;
        this.#busy -= 1;
        this.#onChange(this.#busy);
        this.#grant();
      },
    };
  }

  #giveBack(account: string): void {
    const left = (this.#held.get(account) ?? 1) - 1;
    if (left === 0) this.#held.delete(account);
    else this.#held.set(account, left);
  }
}

/** What is left of several slots without those that are kept. */
function withoutKept(slots: number): number {
  return slots === 1 ? 1 : slots - Math.ceil(slots / SLOTS_PER_KEPT);
}
