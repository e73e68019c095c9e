import type { Connection } from 'mongoose';
import { Collection, type CollectionSpec } from '../../infra/store/collection.ts';

interface PoolTopicsRecord {
  /** Name of the pool. */
  readonly _id: string;
  readonly partitions: number;
}

const POOL_TOPICS: CollectionSpec = {
  name: 'pool_topics',
  account: { none: 'the pools of the installation' },
  scans: { '{}': 'there are as many as pools, and whoever asks wants to know of all' },
};

/** The number of partitions of each pool's topics: processes that can reach Kafka record it for those that cannot. */
export class PoolTopics {
  readonly #records: Collection<PoolTopicsRecord>;

  /** To be created before the connection's indexes are. */
  constructor(connection: Connection) {
    this.#records = new Collection<PoolTopicsRecord>(connection, POOL_TOPICS);
  }

  /** Partitions by name of the pool. A missing pool has not been checked yet. */
  async partitions(): Promise<ReadonlyMap<string, number>> {
    return new Map((await this.#records.find({})).map(({ _id, partitions }) => [_id, partitions]));
  }

  async note(pool: string, partitions: number): Promise<void> {
    await this.#records.upsert(pool, { $set: { partitions } });
  }

  async forget(pool: string): Promise<void> {
    await this.#records.deleteOne({ _id: pool });
  }
}
