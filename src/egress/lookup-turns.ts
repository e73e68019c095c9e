import type { Lookup } from './lookup.ts';

export interface LookupBounds {
  /** Names that are asked for at a time, of those that are not slow. */
  readonly atATime: number;
  /** Names that one asker has asked for at a time, slow ones among them. */
  readonly ofOne: number;
  /** Those of one asker that wait for their turn. */
  readonly waitingOfOne: number;
  /**
   * What is not known after so many milliseconds is slow: it goes on, and another is asked for in its place. Without it
   * a look-up keeps its place to its end.
   */
  readonly slowMs?: number;
}

const TOO_MANY = 'EBUSY';

/** Whether a look-up was refused because its asker has too many that wait. */
export function isTooMany(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === TOO_MANY;
}

/**
 * Who asks for names takes turns: a look-up waits for at most one of each other asker's to begin, however many those have
 * waiting. Whoever names hosts with slow name servers has them wait for each other, and holds a place that others want
 * for `slowMs` at most. Who is given up leaves the queue. An asker with too many that wait is told so: `EBUSY`.
 *
 * Where nobody is told of, the name itself counts as the asker.
 */
export function inTurns(lookup: Lookup, bounds: LookupBounds): Lookup {
  const turns = new LookupTurns(bounds);
  return (name, signal, asker) =>
    turns.run(asker ?? `name ${name}`, () => lookup(name, signal, asker), signal);
}

interface Asker {
  /** Look-ups under way, slow ones among them. */
  running: number;
  /** What begins those that wait; who came first is first. */
  readonly waiting: Set<() => void>;
}

class LookupTurns {
  readonly #bounds: LookupBounds;
  /** Who has had a turn goes to the end. */
  readonly #askers = new Map<string, Asker>();
  /** Places taken. */
  #taken = 0;

  constructor(bounds: LookupBounds) {
    this.#bounds = bounds;
  }

  async run<T>(asker: string, task: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    signal?.throwIfAborted();
    await this.#turn(asker, signal);
    const leave = this.#takePlace();
    try {
      return await task();
    } finally {
      const its = this.#askers.get(asker)!;
      its.running -= 1;
      this.#forget(asker, its);
      leave();
      this.#startNext();
    }
  }

  #turn(name: string, signal: AbortSignal | undefined): Promise<void> {
    const asker = this.#askers.get(name) ?? { running: 0, waiting: new Set() };
    if (asker.waiting.size >= this.#bounds.waitingOfOne) return Promise.reject(tooMany());
    this.#askers.set(name, asker);
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        asker.waiting.delete(begin);
        this.#forget(name, asker);
        reject(signal?.reason);
      };
      const begin = () => {
        signal?.removeEventListener('abort', giveUp);
        resolve();
      };
      signal?.addEventListener('abort', giveUp, { once: true });
      asker.waiting.add(begin);
      this.#startNext();
    });
  }

  /** @returns what gives the place back, unless it has been given back for being slow. */
  #takePlace(): () => void {
    let taken = true;
    const giveBack = () => {
      clearTimeout(timer);
      if (!taken) return;
      taken = false;
      this.#taken -= 1;
      this.#startNext();
    };
    const { slowMs } = this.#bounds;
    const timer = slowMs === undefined ? undefined : setTimeout(giveBack, slowMs);
    timer?.unref();
    return giveBack;
  }

  #startNext(): void {
    while (this.#taken < this.#bounds.atATime) {
      const next = [...this.#askers].find(([, asker]) => this.#mayBegin(asker));
      if (next === undefined) return;
      const [name, asker] = next;
      const [begin] = asker.waiting;
      asker.waiting.delete(begin!);
      asker.running += 1;
      this.#taken += 1;
      this.#askers.delete(name);
      this.#askers.set(name, asker);
      begin!();
    }
  }

  #mayBegin({ running, waiting }: Asker): boolean {
    return waiting.size > 0 && running < this.#bounds.ofOne;
  }

  #forget(name: string, { running, waiting }: Asker): void {
    if (running === 0 && waiting.size === 0) this.#askers.delete(name);
  }
}

function tooMany(): Error {
  return Object.assign(new Error('Too many names are being looked up.'), { code: TOO_MANY });
}
