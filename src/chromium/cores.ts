import { availableParallelism } from 'node:os';
import { AccountUse, nextTurn } from '../async/account-use.ts';
import { type RestBudget, RestBudgets } from './page/rest-budget.ts';
import type { RenderClass } from './renderer.ts';

/** Of four cores that both classes want, bulk work gets one. */
const BULK_EVERY = 4;
/** After so long a render lets others compute who wait for a core. Milliseconds. */
const TURN_MS = 1000;
/** The same where one waits that comes first: interactive beside bulk, or of an account that has computed for less. */
const SHORT_TURN_MS = 100;
/**
 * What an account has computed counts half after this. It is no longer than some turns: by what it had in the last minute,
 * an account that is always about would come after every newcomer that takes all cores for seconds. Milliseconds.
 */
const HALF_LIFE_MS = 1000;
/** Which accounts are slow does not matter here. */
const NEVER_SLOW_MS = Number.POSITIVE_INFINITY;

/** Cores that renders may use, at least 2. */
export function coresOfMachine(): number {
  return Math.max(2, availableParallelism());
}

/**
 * Renders that compute at a time on so many cores. Messages go to and fro between their steps, and nothing is computed
 * meanwhile: were there only as many renders as cores, a sixth of these would stand idle (docs/performance.md).
 */
export function rendersOnCores(cores: number): number {
  return cores + Math.ceil(cores / 2);
}

/** What a render is taken to have in memory while it waits, on average. Bytes. */
const RENDER_BYTES = 96 * 1024 * 1024;
/** Of all memory, what renders at rest may have. */
const RENDERS_SHARE = 0.25;
/** Renders that wait for a second, as for a slow picture, keep a core busy with what they compute when so many share it. */
const SLOTS_PER_CORE = 8;

/** Renders at a time, at rest or not, where nothing else is said. @param memoryBytes that there are. */
export function defaultSlots(memoryBytes: number): number {
  const cores = coresOfMachine();
  const room = Math.floor((memoryBytes * RENDERS_SHARE) / RENDER_BYTES);
  return Math.min(256, Math.max(cores, Math.min(cores * SLOTS_PER_CORE, room)));
}

/** Who computes. */
export interface CoreUser {
  readonly account: string;
  readonly class: RenderClass;
}

/** A core that somebody has, or several. */
export interface Core {
  readonly count: number;
  /** Gives it back; calling it again changes nothing. */
  release(): void;
}

interface Waiting {
  readonly account: string;
  /** Cores that it waits for, all at once. */
  readonly count: number;
  readonly grant: (core: Core) => void;
}

/**
 * The cores that renders compute on: so many of them at a time. A render that waits (for the network, a selector, a
 * delay) has none. Interactive renders come first, with a floor for bulk ones; within a class the account that has
 * computed for the least time lately is next, and of an account who came first.
 */
export class Cores {
  readonly total: number;
  readonly #waiting: Record<RenderClass, Set<Waiting>> = { interactive: new Set(), bulk: new Set() };
  readonly #onResting: (renders: number) => void;
  readonly #onWaiting = new Set<() => void>();
  readonly #use: AccountUse;
  readonly #restBudgets = new RestBudgets();
  #taken = 0;
  #resting = 0;
  #sinceBulk = 0;

  /**
   * @param onResting told how many renders wait for something else than a core, whenever that changes.
   * @param now milliseconds of a clock that never goes back.
   */
  constructor(
    total: number,
    onResting: (renders: number) => void = () => undefined,
    now: () => number = () => performance.now(),
  ) {
    this.total = total;
    this.#onResting = onResting;
    this.#use = new AccountUse({ slowMs: NEVER_SLOW_MS, strangerMs: 0, halfLifeMs: HALF_LIFE_MS, now });
  }

  /** Renders that compute at present. */
  get taken(): number {
    return this.#taken;
  }

  /** How long `user` may compute at a time as things are: without end while nobody waits for a core. Milliseconds. */
  turnMs({ account, class: own }: CoreUser): number {
    const { interactive, bulk } = this.#waiting;
    if (interactive.size + bulk.size === 0) return Number.POSITIVE_INFINITY;
    if (own === 'bulk' && interactive.size > 0) return SHORT_TURN_MS;
    const used = this.#use.of(account);
    const next = nextTurn(this.#waiting[own], this.#use);
    return next !== undefined && this.#use.of(next.account) < used ? SHORT_TURN_MS : TURN_MS;
  }

  /** Has `tell` called whenever somebody has begun to wait for a core. @returns what ends that. */
  onWaiting(tell: () => void): () => void {
    this.#onWaiting.add(tell);
    return () => this.#onWaiting.delete(tell);
  }

  /** Takes `count` cores if so many are idle, and nobody waits for them. */
  tryTake({ account }: CoreUser, count = 1): Core | undefined {
    const { interactive, bulk } = this.#waiting;
    const areIdle = this.#taken + count <= this.total && interactive.size + bulk.size === 0;
    return areIdle ? this.#core(account, count) : undefined;
  }

  /**
   * Resolves with `count` cores, `total` at most, when it is this one's turn and so many are idle: whoever is first has
   * others wait until they are. When `signal` aborts before, rejects with its reason.
   */
  take({ account, class: renderClass }: CoreUser, signal: AbortSignal, count = 1): Promise<Core> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const queue = this.#waiting[renderClass];
      const waiting: Waiting = {
        account,
        count,
        grant: (core) => {
          signal.removeEventListener('abort', giveUp);
          resolve(core);
        },
      };
      const giveUp = () => {
        queue.delete(waiting);
        reject(signal.reason);
        this.#grant();
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#use.arrive(account, ...Object.values(this.#waiting));
      queue.add(waiting);
      this.#grant();
      if (queue.has(waiting)) for (const tell of this.#onWaiting) tell();
    });
  }

  /** Counts for an account what it computes without a core. @returns what ends that. */
  countBeside({ account }: CoreUser): () => void {
    const use = this.#use.begin(account);
    return () => this.#use.end(use);
  }

  /** Counts a render in (1) that waits for something else than a core, or out (-1). */
  rest(change: 1 | -1): void {
    this.#resting += change;
    this.#onResting(this.#resting);
  }

  /** What the pages at rest of an account may compute together. */
  restBudgetOf({ account }: CoreUser): RestBudget {
    return this.#restBudgets.of(account);
  }

  #core(account: string, count: number): Core {
    this.#taken += count;
    const uses = Array.from({ length: count }, () => this.#use.begin(account));
    let has = true;
    return {
      count,
      release: () => {
        if (!has) return;
        has = false;
        for (const use of uses) this.#use.end(use);
        this.#taken -= count;
        this.#grant();
      },
    };
  }

  #grant(): void {
    while (this.#taken < this.total) {
      const { interactive, bulk } = this.#waiting;
      const isBulksTurn = bulk.size > 0 && (interactive.size === 0 || this.#sinceBulk >= BULK_EVERY - 1);
      const queue = isBulksTurn ? bulk : interactive;
      const next = nextTurn(queue, this.#use);
      if (next === undefined || this.#taken + next.count > this.total) return;
      if (isBulksTurn) this.#sinceBulk = 0;
      else if (bulk.size > 0) this.#sinceBulk++;
      queue.delete(next);
      next.grant(this.#core(next.account, next.count));
    }
  }
}
