import { availableParallelism } from 'node:os';
import type { RenderClass } from './renderer.ts';

/** Of four cores that both classes want, bulk work gets one. */
const BULK_EVERY = 4;

/** Renders that compute at a time where nothing else is said: one for each core, at least 2. */
export function coresOfMachine(): number {
  return Math.max(2, availableParallelism());
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

interface Waiting {
  readonly grant: () => void;
}

/**
 * The cores that renders compute on: so many of them at a time. A render that waits (for the network, a selector, a
 * delay) has none. Interactive renders come first, with a floor for bulk ones.
 */
export class Cores {
  readonly total: number;
  readonly #waiting: Record<RenderClass, Set<Waiting>> = { interactive: new Set(), bulk: new Set() };
  readonly #onResting: (renders: number) => void;
  #taken = 0;
  #resting = 0;
  #sinceBulk = 0;

  /** @param onResting told how many renders wait for something else than a core, whenever that changes. */
  constructor(total: number, onResting: (renders: number) => void = () => undefined) {
    this.total = total;
    this.#onResting = onResting;
  }

  /** Cores that nobody computes on. */
  get idle(): number {
    return this.total - this.#taken;
  }

  /** Whether somebody waits for a core. */
  get wanted(): boolean {
    return this.#waiting.interactive.size > 0 || this.#waiting.bulk.size > 0;
  }

  /** Takes a core if one is idle. */
  tryTake(): boolean {
    if (this.idle <= 0) return false;
    this.#taken++;
    return true;
  }

  /** Resolves when a core has been taken; give it back with `release`. When `signal` aborts, rejects with its reason. */
  take(renderClass: RenderClass, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason);
        return;
      }
      const queue = this.#waiting[renderClass];
      const waiting: Waiting = {
        grant: () => {
          signal.removeEventListener('abort', giveUp);
          resolve();
        },
      };
      const giveUp = () => {
        queue.delete(waiting);
        reject(signal.reason);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      queue.add(waiting);
      this.#grant();
    });
  }

  release(): void {
    this.#taken--;
    this.#grant();
  }

  /** Counts a render in (1) that waits for something else than a core, or out (-1). */
  rest(change: 1 | -1): void {
    this.#resting += change;
    this.#onResting(this.#resting);
  }

  #grant(): void {
    while (this.#taken < this.total) {
      const next = this.#next();
      if (next === undefined) return;
      this.#taken++;
      next.grant();
    }
  }

  #next(): Waiting | undefined {
    const { interactive, bulk } = this.#waiting;
    const bulksTurn = bulk.size > 0 && (interactive.size === 0 || this.#sinceBulk >= BULK_EVERY - 1);
    if (bulksTurn) this.#sinceBulk = 0;
    else if (bulk.size > 0) this.#sinceBulk++;
    const queue = bulksTurn ? bulk : interactive;
    const [first] = queue;
    if (first !== undefined) queue.delete(first);
    return first;
  }
}
