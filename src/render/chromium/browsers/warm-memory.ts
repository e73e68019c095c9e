import type { MachineMemory } from '../../../infra/machine/machine-memory.ts';

const MIB = 1024 * 1024;
/** Assumed memory of a context before one was measured. Bytes. */
const FIRST_GUESS = 40 * MIB;
const LEAST_WEIGHT = 4 * MIB;
/** Share of all memory that is kept free for renders: below it warm contexts are closed. */
const RESERVED_SHARE = 0.1;

/** Number and total memory (proportional set size) of the renderer processes of a browser. */
export interface RendererWeight {
  readonly bytes: number;
  readonly count: number;
}

/** What warm contexts may use of the worker's memory; they are closed first when it runs short, for any reason. */
export class WarmMemory {
  readonly #bytes: number;
  readonly #machine: MachineMemory;
  /** Mean memory of a context. Bytes. */
  #each = FIRST_GUESS;
  #missing = 0;

  /** @param share part of all memory that idle contexts may use, 0 to 1. */
  constructor(share: number, machine: MachineMemory) {
    this.#bytes = machine.total * share;
    this.#machine = machine;
  }

  /** Whether less memory is left than renders may need at any moment. */
  get short(): boolean {
    return this.#missing > 0;
  }

  /** Updates the mean memory of a context, and the memory that is missing. */
  weighed(renderers: readonly RendererWeight[]): void {
    const count = renderers.reduce((sum, weight) => sum + weight.count, 0);
    const bytes = renderers.reduce((sum, weight) => sum + weight.bytes, 0);
    if (count > 0) this.#each = Math.max(LEAST_WEIGHT, bytes / count);
    this.#missing = this.#missingNow();
  }

  /** As `short`, read anew. */
  runsShort(): boolean {
    return this.#missingNow() > 0;
  }

  /** Number of idle contexts that fit into their share of memory. */
  contextsThatFit(): number {
    return Math.floor(this.#bytes / this.#each);
  }

  /** Number of idle contexts to close, so that enough memory is left for renders. */
  toGiveBack(): number {
    return Math.ceil(this.#missing / this.#each);
  }
  #missingNow(): number {
    return Math.max(0, this.#machine.total * RESERVED_SHARE - this.#machine.available());
  }
}
