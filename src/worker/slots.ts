import type { JobClass, Slot } from '../bus/bus.ts';

/** Of four slots that both classes want, bulk work gets one: it is slowed by interactive work, never starved. */
const BULK_EVERY = 4;

interface Waiting {
  readonly grant: (slot: Slot) => void;
}

/**
 * The room of one worker: so many renders at a time. Interactive jobs get their slots first, with a floor for bulk ones.
 */
export class WorkerSlots {
  readonly #total: number;
  readonly #waiting: Record<JobClass, Waiting[]> = { interactive: [], bulk: [] };
  readonly #onChange: (busy: number) => void;
  #busy = 0;
  #sinceBulk = 0;

  constructor(total: number, onChange: (busy: number) => void = () => {}) {
    this.#total = total;
    this.#onChange = onChange;
  }

  get busy(): number {
    return this.#busy;
  }

  /** Resolves with a slot as soon as one is free for this class; rejects with the signal's reason when it aborts. */
  reserve(jobClass: JobClass, signal: AbortSignal): Promise<Slot> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const queue = this.#waiting[jobClass];
      const waiting: Waiting = {
        grant: (slot) => {
          signal.removeEventListener('abort', giveUp);
          resolve(slot);
        },
      };
      const giveUp = () => {
        queue.splice(queue.indexOf(waiting), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      queue.push(waiting);
      this.#grant();
    });
  }

  #grant(): void {
    while (this.#busy < this.#total) {
      const next = this.#next();
      if (next === undefined) return;
      this.#busy += 1;
      this.#onChange(this.#busy);
      next.grant(this.#slot());
    }
  }

  #next(): Waiting | undefined {
    const { interactive, bulk } = this.#waiting;
    const bulksTurn = bulk.length > 0 && (interactive.length === 0 || this.#sinceBulk >= BULK_EVERY - 1);
    if (bulksTurn) this.#sinceBulk = 0;
    else if (bulk.length > 0) this.#sinceBulk += 1;
    return bulksTurn ? bulk.shift() : interactive.shift();
  }

  #slot(): Slot {
    let held = true;
    return {
      release: () => {
        if (!held) return;
        held = false;
        this.#busy -= 1;
        this.#onChange(this.#busy);
        this.#grant();
      },
    };
  }
}
