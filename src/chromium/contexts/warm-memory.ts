import type { MachineMemory } from '../browsers/process/machine-memory.ts';

const MIB = 1024 * 1024;
/** What a context is taken to weigh before one was weighed. Bytes. */
const FIRST_GUESS = 40 * MIB;
const LEAST_WEIGHT = 4 * MIB;
/** Of all memory, what is kept free for renders: below it warm contexts are given back. */
const RESERVED_SHARE = 0.1;

/** What the renderer processes of a browser weigh together, by proportional set size, and how many there are. */
export interface RendererWeight {
  readonly bytes: number;
  readonly count: number;
}

/**
 * How much memory contexts may have that are kept warm: a share of what the worker has. When memory runs short, for
 * whatever reason, they are what is given back first.
 */
export class WarmMemory {
  readonly #bytes: number;
  readonly #machine: MachineMemory;
  #each = FIRST_GUESS;
  #missing = 0;

  /** @param share of all memory that idle contexts may have, 0 to 1. */
  constructor(share: number, machine: MachineMemory) {
    this.#bytes = machine.total * share;
    this.#machine = machine;
  }

  /** What one context weighs on average. Bytes. */
  get each(): number {
    return this.#each;
  }

  /** Whether less is left than renders may need at any moment. */
  get short(): boolean {
    return this.#missing > 0;
  }

  /** Takes note of what has been weighed, and of what is left. */
  weighed(renderers: readonly RendererWeight[]): void {
    const count = renderers.reduce((sum, weight) => sum + weight.count, 0);
    const bytes = renderers.reduce((sum, weight) => sum + weight.bytes, 0);
    if (count > 0) this.#each = Math.max(LEAST_WEIGHT, bytes / count);
    this.#missing = Math.max(0, this.#machine.total * RESERVED_SHARE - this.#machine.available());
  }

  /** Idle contexts that there is room for. */
  contextsThatFit(): number {
    return Math.floor(this.#bytes / this.#each);
  }

  /** Idle contexts to be closed, so that there is enough left for renders. */
  toGiveBack(): number {
    return Math.ceil(this.#missing / this.#each);
  }
}
