import type { WorkerRegistry } from './worker-registry.ts';

/** Slots of a pool change only when its workers are replaced; an old value costs a job its warm context at most. */
const CHECK_EVERY_MS = 10_000;

/** Renders that a pool's worker runs at a time, as its workers report; for pools not configured here. */
export class PoolSlots {
  readonly #registry: Pick<WorkerRegistry, 'slotsOf'>;
  readonly #pools = new Map<string, { slots: number | undefined; checkedAt: number }>();

  constructor(registry: Pick<WorkerRegistry, 'slotsOf'>) {
    this.#registry = registry;
  }

  /** The last known number. It is read in the background: undefined until then, and for a pool without a worker. */
  of(pool: string): number | undefined {
    const known = this.#pools.get(pool);
    const now = performance.now();
    if (known === undefined || now - known.checkedAt > CHECK_EVERY_MS) {
      this.#pools.set(pool, { slots: known?.slots, checkedAt: now });
      void this.#check(pool);
    }
    return known?.slots;
  }

  async #check(pool: string): Promise<void> {
    try {
      const slots = await this.#registry.slotsOf(pool);
      if (slots !== undefined) this.#pools.set(pool, { slots, checkedAt: performance.now() });
    } catch {
      // The database cannot be reached: the last known number stays, and is read again.
    }
  }
}
