import type { Bus } from '../../infra/bus/bus.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import type { PlanMirror } from '../../tenants/plans/plan-mirror.ts';
import type { PoolTopics } from './pool-topics.ts';
import type { WorkerRegistry } from './worker-registry.ts';

interface TopicReconcilerDeps {
  readonly bus: Pick<Bus, 'makeRoom'>;
  /** The source of how many workers each pool may have. */
  readonly mirror: Pick<PlanMirror, 'read'>;
  readonly registry: Pick<WorkerRegistry, 'list' | 'isSeen'>;
  readonly topics: Pick<PoolTopics, 'partitions' | 'note' | 'forget'>;
  readonly logger: Pick<Logger, 'debug'>;
}

/** Topics with enough partitions are checked again after this many rounds: they may have been recreated. */
const SURE_FOR_ROUNDS = 60;

/**
 * Gives the topics of each pool a partition for each worker that the pool may have, and notes how many there are. Kafka
 * gives the pointers of a partition to one worker of a pool, so further workers would get none.
 */
export class TopicReconciler {
  readonly #deps: TopicReconcilerDeps;
  /** By pool, the round in which its topics had partitions for this many workers. */
  readonly #sure = new Map<string, { readonly workers: number; readonly round: number }>();
  #round = 0;

  constructor(deps: TopicReconcilerDeps) {
    this.#deps = deps;
  }

  /** Checks every pool once; one whose state Kafka does not report, the next time. @throws only for the database. */
  async run(): Promise<void> {
    const { bus, topics, logger } = this.#deps;
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
        // The bus reports that Kafka is away.
        logger.debug({ err: error, pool }, 'how many partitions a pool has could not be found out');
      }
    }
    for (const pool of noted.keys()) if (!wanted.has(pool)) await topics.forget(pool);
  }

  #isSure(pool: string, workers: number): boolean {
    const sure = this.#sure.get(pool);
    return sure !== undefined && sure.workers >= workers && this.#round - sure.round < SURE_FOR_ROUNDS;
  }

  /** The most that a pool may have, or the number that it has if that is greater: not every pool is a resource. */
  async #workersByPool(): Promise<ReadonlyMap<string, number>> {
    const { mirror, registry } = this.#deps;
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
