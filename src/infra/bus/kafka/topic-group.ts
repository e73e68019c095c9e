import type { Admin, ITopicConfig, Kafka } from 'kafkajs';
import type { BrokerMonitor } from './broker-monitor.ts';
import { createMissing, endsOf, makeLane } from './topics.ts';

/** In milliseconds: all brokers take part in the creation of topics. */
const CREATE_TIMEOUT_MS = 20_000;

/**
 * Topics that are created together, when one of them is first needed: the topics of one pool, or the topics of events.
 * Each group has its own connection, because a broker responds to the requests of a connection one after the other, and
 * no pool may wait for the topics of another pool.
 */
export class TopicGroup {
  readonly #kafka: Kafka;
  readonly #monitor: BrokerMonitor;
  readonly #topics: readonly ITopicConfig[];
  #ensured: Promise<void> | undefined;
  #creating = false;
  #isThere = false;

  constructor(kafka: Kafka, monitor: BrokerMonitor, topics: readonly ITopicConfig[]) {
    this.#kafka = kafka;
    this.#monitor = monitor;
    this.#topics = topics;
  }

  /** Whether the topics existed when they were last looked up. */
  get isThere(): boolean {
    return this.#isThere;
  }

  /**
   * Resolves when the topics exist, which is checked once, as soon as the brokers respond. Rejects when they could not
   * be created, or the bus is closed; the next call tries again.
   */
  ensure(): Promise<void> {
    if (this.#ensured === undefined) {
      this.#creating = true;
      const ensured = this.#create().finally(() => {
        this.#creating = false;
      });
      ensured.catch(() => {
        if (this.#ensured === ensured) this.#ensured = undefined;
      });
      this.#ensured = ensured;
    }
    return this.#ensured;
  }

  /** Checks the topics again: the broker may have come back without its data. */
  ensureAgain(): Promise<void> {
    if (!this.#creating) {
      this.#ensured = undefined;
      this.#isThere = false;
    }
    return this.ensure();
  }

  /** As `endsOf`. @throws when the brokers do not respond. */
  async ends(topic: string): Promise<Map<number, string>> {
    return this.#administer('looking up offsets', (admin) => endsOf(admin, topic));
  }

  /** As `makeLane`, of all topics of the group. */
  async makeLane(lane: number): Promise<void> {
    const names = this.#topics.map(({ topic }) => topic);
    await this.#administer('making partitions', (admin) => makeLane(admin, names, lane));
  }

  async #create(): Promise<void> {
    await this.#monitor.reachable();
    await this.#administer('looking up and making topics', (admin) => createMissing(admin, this.#topics));
    this.#isThere = true;
  }

  async #administer<T>(what: string, work: (admin: Admin) => Promise<T>): Promise<T> {
    const admin = this.#kafka.admin();
    try {
      return await this.#monitor.whileOpen(
        CREATE_TIMEOUT_MS,
        what,
        admin.connect().then(() => work(admin)),
      );
    } finally {
      admin.disconnect().catch(() => {});
    }
  }
}
