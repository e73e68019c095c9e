import type { Trace } from './traces.ts';

interface Account {
  readonly cap: number;
  inFlight: number;
  readonly waiting: Fifo;
}

/** A queue of jobs, by their numbers. */
export class Fifo {
  #items: number[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(job: number): void {
    this.#items.push(job);
  }

  shift(): number | undefined {
    if (this.#head === this.#items.length) return undefined;
    const job = this.#items[this.#head];
    this.#head += 1;
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return job;
  }
}

/**
 * Plan slots as Platen hands them out: a job takes a slot of its account before it goes to the workers, waits with its
 * account when there is none, and hands its slot to the account's next job when it ends.
 */
export class Accounts {
  /** Σ over accounts of in flight + min(waiting, cap − in flight). */
  demand = 0;
  /** Accepted and not ended. */
  open = 0;
  readonly #trace: Trace;
  readonly #accounts = new Map<number, Account>();
  readonly #dispatch: (job: number) => void;

  /** @param dispatch is told of every job when it gets its slot. */
  constructor(trace: Trace, dispatch: (job: number) => void) {
    this.#trace = trace;
    this.#dispatch = dispatch;
  }

  accept(job: number): void {
    const account = this.#accountOf(job);
    this.open += 1;
    if (account.inFlight + account.waiting.length < account.cap) this.demand += 1;
    if (account.inFlight < account.cap) {
      account.inFlight += 1;
      this.#dispatch(job);
    } else {
      account.waiting.push(job);
    }
  }

  end(job: number): void {
    const account = this.#accountOf(job);
    this.open -= 1;
    if (account.inFlight + account.waiting.length <= account.cap) this.demand -= 1;
    const next = account.waiting.shift();
    if (next !== undefined) {
      this.#dispatch(next);
      return;
    }
    account.inFlight -= 1;
    if (account.inFlight === 0) this.#accounts.delete(this.#trace.jobs.tenant[job]!);
  }

  #accountOf(job: number): Account {
    const tenant = this.#trace.jobs.tenant[job]!;
    const known = this.#accounts.get(tenant);
    if (known !== undefined) return known;
    const account = { cap: this.#trace.capOf(tenant), inFlight: 0, waiting: new Fifo() };
    this.#accounts.set(tenant, account);
    return account;
  }
}
