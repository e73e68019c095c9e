import { Backlog, type Entry } from './backlog.ts';
import { type Charge, Usage, type UsageOptions } from './virtual-time.ts';

/** Interactive requests are served before bulk ones. */
export type Priority = 'interactive' | 'bulk';

const PRIORITIES = ['interactive', 'bulk'] as const;

/** While both priorities wait, every fourth permit goes to bulk, which interactive requests never starve. */
const BULK_EVERY = 4;

export interface PermitRequest {
  readonly account: string;
  /** Default: interactive. */
  readonly priority?: Priority;
  /** Units of capacity that the permit takes, all at once. Default 1. */
  readonly size?: number;
  /** Called at the moment of the grant, before anything else is granted. */
  readonly onGrant?: (permit: Permit) => void;
}

/** The right to use part of a shared resource until it is released. Its account is charged for the use. */
export interface Permit extends Omit<Charge, 'end'> {
  readonly size: number;
  /** Releasing it again changes nothing. */
  release(): void;
}

export type AccountFilter = (account: string) => boolean;

const EVERYBODY: readonly AccountFilter[] = [() => true];

export interface FairQueueOptions {
  /** How usage is charged to accounts. */
  readonly usage?: UsageOptions;
  /** Longest wait of a request, in milliseconds. Default: unbounded. */
  readonly deadline?: { readonly ms: number; readonly error: () => Error };
  /** Most requests of one account that may wait. Default: unbounded. */
  readonly maxWaiting?: { readonly perAccount: number; readonly error: () => Error };
  /** Called with the taken capacity whenever it changes. */
  readonly onTaken?: ((taken: number) => void) | undefined;
}

interface Waiting extends Entry, Required<Pick<PermitRequest, 'priority' | 'size'>> {
  grant(permit: Permit): void;
  reject(reason: unknown): void;
}

/**
 * Start-time fair queueing (Goyal, Vin and Cheng, 1996) over accounts: the next permit goes to the eligible account
 * with the least recent usage, and within an account to its oldest request. docs/scheduling.md describes the whole
 * design.
 *
 * A subclass defines the policy by `capacity`, `eligible` and `mayServeBulk`.
 *
 * A grant takes O(log n) for n waiting accounts, however many requests they have.
 */
export abstract class FairQueue {
  readonly usage: Usage;
  readonly #options: FairQueueOptions;
  readonly #backlogs: Readonly<Record<Priority, Backlog<Waiting>>>;
  readonly #taken: Record<Priority, number> = { interactive: 0, bulk: 0 };
  readonly #heldByAccount = new Map<string, number>();
  /** Consecutive interactive permits while a bulk request waited. */
  #sinceBulk = 0;
  #sequence = 0;

  constructor(options: FairQueueOptions = {}) {
    this.#options = options;
    this.usage = new Usage(options.usage);
    this.#backlogs = { interactive: new Backlog(this.usage), bulk: new Backlog(this.usage) };
  }

  /** Current number of units of capacity, taken or not. */
  protected abstract get capacity(): number;

  /** Filters for the account of the next permit: the first filter that any waiting account passes is used. */
  protected eligible(): readonly AccountFilter[] {
    return EVERYBODY;
  }

  /** @param isDue true when every fourth permit is due; false when no eligible interactive request waits. */
  protected mayServeBulk(_isDue: boolean): boolean {
    return true;
  }

  /** Units of capacity that are taken. */
  get taken(): number {
    return this.#taken.interactive + this.#taken.bulk;
  }

  takenBy(priority: Priority): number {
    return this.#taken[priority];
  }

  /** The number of permits that each account holds; accounts without permits are absent. */
  get heldByAccount(): ReadonlyMap<string, number> {
    return this.#heldByAccount;
  }

  heldBy(account: string): number {
    return this.#heldByAccount.get(account) ?? 0;
  }

  /** The number of waiting requests, of one priority or of both priorities. */
  waiting(priority?: Priority): number {
    const { interactive, bulk } = this.#backlogs;
    return priority === undefined ? interactive.size + bulk.size : this.#backlogs[priority].size;
  }

  /** Accounts with waiting requests. */
  get waitingAccounts(): ReadonlySet<string> {
    const { interactive, bulk } = this.#backlogs;
    return new Set([...interactive.accounts, ...bulk.accounts]);
  }

  /** The account that would be served next. */
  nextAccount(priority: Priority): string | undefined {
    return this.#backlogs[priority].first(() => true)?.account;
  }

  /** @throws the signal's reason when it aborts first; the errors of `deadline` and `maxWaiting`. */
  acquire(request: PermitRequest, signal?: AbortSignal): Promise<Permit> {
    const { account, priority = 'interactive', size = 1, onGrant } = request;
    const { deadline, maxWaiting } = this.#options;
    const backlog = this.#backlogs[priority];
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (maxWaiting !== undefined && backlog.sizeOf(account) >= maxWaiting.perAccount)
        throw maxWaiting.error();
      const giveUp = (reason: unknown) => {
        stop();
        backlog.delete(waiting);
        reject(reason);
      };
      const onAbort = () => {
        giveUp(signal?.reason);
        // Other requests may have waited until this one, a large one, would fit.
        this.grant();
      };
      const stop = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const timer = deadline && setTimeout(() => giveUp(deadline.error()), deadline.ms);
      signal?.addEventListener('abort', onAbort, { once: true });
      const waiting: Waiting = {
        account,
        priority,
        size,
        sequence: this.#sequence++,
        position: 0,
        reject: giveUp,
        grant(permit) {
          stop();
          onGrant?.(permit);
          resolve(permit);
        },
      };
      const { interactive, bulk } = this.#backlogs;
      if (interactive.sizeOf(account) + bulk.sizeOf(account) === 0) this.usage.arrive(account);
      backlog.add(waiting);
      this.grant();
    });
  }

  tryAcquire({ account, priority = 'interactive', size = 1 }: PermitRequest): Permit | undefined {
    const isFree = this.waiting() === 0 && this.taken + size <= this.capacity;
    return isFree ? this.#start({ account, priority, size }) : undefined;
  }

  /** Rejects every waiting request. */
  rejectWaiting(reason: unknown): void {
    for (const priority of PRIORITIES)
      while (this.waiting(priority) > 0) this.#first(priority, EVERYBODY)?.reject(reason);
  }

  /** Grants all permits that the policy allows now. To be called when that may have changed, also by time. */
  grant(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const permit = this.#start(next);
      this.#backlogs[next.priority].delete(next);
      next.grant(permit);
    }
  }

  #next(): Waiting | undefined {
    const free = this.capacity - this.taken;
    if (free <= 0 || this.waiting() === 0) return undefined;
    const filters = this.eligible();
    const [interactive, bulk] = [this.#first('interactive', filters), this.#first('bulk', filters)];
    const servesBulk = bulk !== undefined && this.#servesBulk(interactive === undefined);
    const next = servesBulk ? bulk : interactive;
    // Other requests wait until a large one fits; otherwise it might never be granted.
    if (next === undefined || next.size > free) return undefined;
    if (servesBulk) this.#sinceBulk = 0;
    else if (bulk !== undefined) this.#sinceBulk += 1;
    return next;
  }

  #first(priority: Priority, filters: readonly AccountFilter[]): Waiting | undefined {
    for (const isEligible of filters) {
      const first = this.#backlogs[priority].first(isEligible);
      if (first !== undefined) return first;
    }
    return undefined;
  }

  #servesBulk(isAlone: boolean): boolean {
    const isDue = this.#sinceBulk >= BULK_EVERY - 1;
    return (isDue && this.mayServeBulk(true)) || (isAlone && this.mayServeBulk(false));
  }

  #start({ account, priority, size }: Required<Omit<PermitRequest, 'onGrant'>>): Permit {
    const charge = this.usage.begin(account, size);
    this.#count(account, priority, size, 1);
    let released = false;
    return {
      account,
      size,
      get since() {
        return charge.since;
      },
      pause: charge.pause,
      resume: charge.resume,
      release: () => {
        if (released) return;
        released = true;
        charge.end();
        this.#count(account, priority, -size, -1);
        this.grant();
      },
    };
  }

  #count(account: string, priority: Priority, size: number, permits: 1 | -1): void {
    this.#taken[priority] += size;
    const held = this.heldBy(account) + permits;
    if (held === 0) this.#heldByAccount.delete(account);
    else this.#heldByAccount.set(account, held);
    this.#options.onTaken?.(this.taken);
  }
}
