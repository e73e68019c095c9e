import type { Bus } from '../bus/bus.ts';
import type { PlanMirror } from '../plans/plan-mirror.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { PoolTopics } from '../workers/pool-topics.ts';
import type { WorkerRegistry } from '../workers/worker-registry.ts';

export interface TopicCareParts {
  readonly bus: Pick<Bus, 'makeRoom'>;
  /** Where pools say how many workers they may have. */
  readonly mirror: Pick<PlanMirror, 'read'>;
  readonly registry: Pick<WorkerRegistry, 'list' | 'isSeen'>;
  readonly topics: Pick<PoolTopics, 'partitions' | 'note' | 'forget'>;
  readonly logger: Pick<Logger, 'debug'>;
}

/** Topics that have room enough are looked at again after so many rounds: somebody may have made them anew. */
const SURE_FOR_ROUNDS = 60;

/**
 * Sees to it that each worker that a pool may have finds a partition in the pool's topics, and notes how many there are. Kafka
 * gives the work of a partition to one worker of a pool, so that workers past their number would get none.
 */
export class TopicCare {
  readonly #parts: TopicCareParts;
  /** By pool, the round in which its topics were found to have room for so many workers. */
  readonly #sure = new Map<string, { readonly workers: number; readonly round: number }>();
  #round = 0;

  constructor(parts: TopicCareParts) {
    this.#parts = parts;
  }

  /** Looks at every pool once. A pool of which Kafka says nothing is looked at the next time. @throws by the database only. */
  async run(): Promise<void> {
    const { bus, topics, logger } = this.#parts;
    this.#round += 1;
    const wanted = await this.#workersByPool();
    const noted = await topics.partitions();
    for (const [pool, workers] of wanted) {
      if (this.#isSure(pool, workers) && noted.has(pool)) continue;
      try {
        const room = await bus.makeRoom(pool, workers);
        if (room === undefined) return;
        if (room !== noted.get(pool)) await topics.note(pool, room);
        if (room >= workers) this.#sure.set(pool, { workers: room, round: this.#round });
      } catch (error) {
        // That Kafka is away is told by the bus.
        logger.debug({ err: error, pool }, 'how many partitions a pool has could not be found out');
      }
    }
    for (const pool of noted.keys()) if (!wanted.has(pool)) await topics.forget(pool);
  }

  #isSure(pool: string, workers: number): boolean {
    const sure = this.#sure.get(pool);
    return sure !== undefined && sure.workers >= workers && this.#round - sure.round < SURE_FOR_ROUNDS;
  }

  /** As many as a pool may have, and at least as many as it has: not every pool is a resource. */
  async #workersByPool(): Promise<ReadonlyMap<string, number>> {
    const { mirror, registry } = this.#parts;
    const [mirrored, workers] = await Promise.all([mirror.read(), registry.list()]);
    const counts = new Map<string, number>();
    for (const worker of workers) {
      if (registry.isSeen(worker)) counts.set(worker.pool, (counts.get(worker.pool) ?? 0) + 1);
    }
    for (const [pool, { maxWorkers = 1 }] of mirrored?.set.pools ?? []) {
      counts.set(pool, Math.max(maxWorkers, counts.get(pool) ?? 0));
    }
    return counts;
  }
}
