import type { WorkerRegistry } from './worker-registry.ts';

/** Workers of a pool change their size by being replaced; being late costs a job its warm context at most. */
const CHECK_EVERY_MS = 10_000;

/** Renders at a time in one worker of a pool, as the workers themselves say; for pools of which nothing else says it. */
export class PoolSlots {
  readonly #registry: Pick<WorkerRegistry, 'slotsOf'>;
  readonly #pools = new Map<string, { slots: number | undefined; lookedAt: number }>();

  constructor(registry: Pick<WorkerRegistry, 'slotsOf'>) {
    this.#registry = registry;
  }

  /** What is known. It is read in the background: undefined until then, and without a worker. */
  of(pool: string): number | undefined {
    const known = this.#pools.get(pool);
    const now = performance.now();
    if (known === undefined || now - known.lookedAt > CHECK_EVERY_MS) {
      this.#pools.set(pool, { slots: known?.slots, lookedAt: now });
      void this.#check(pool);
    }
    return known?.slots;
  }

  async #check(pool: string): Promise<void> {
    try {
      const slots = await this.#registry.slotsOf(pool);
      if (slots !== undefined) this.#pools.set(pool, { slots, lookedAt: performance.now() });
    } catch {
      // The database is away: what is known stays, and is read again.
    }
  }
}
