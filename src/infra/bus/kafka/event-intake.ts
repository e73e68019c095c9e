import { randomUUID } from 'node:crypto';
import type { Admin, EachBatchPayload } from 'kafkajs';
import { within } from '../../async/timeout.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { JobEvent } from '../bus.ts';
import { decodeEvent } from '../messages.ts';
import type { BrokerMonitor } from './broker-monitor.ts';
import { type ClientOptions, createClient } from './client.ts';
import { laneAssigner } from './lane-assigner.ts';
import { SupervisedConsumer } from './supervised-consumer.ts';
import type { TopicGroup } from './topic-group.ts';

const DELETE_TIMEOUT_MS = 2000;
/** How long a fetch, and with it the end of the process, waits for messages, in milliseconds. */
const FETCH_WAIT_MS = 1000;

interface EventIntakeOptions {
  readonly topic: string;
  readonly topics: TopicGroup;
  readonly partition: number;
  /** Each process has its own group, whose name begins with this. */
  readonly groupPrefix: string;
  readonly sessionTimeoutMs: number;
}

/**
 * Receives every event of a partition from now on, for this process alone. kafkajs consumes in groups only, so each process is a
 * group; it commits no offsets, so the broker forgets the group of a process that died.
 */
export class EventIntake {
  readonly #consumer: SupervisedConsumer;
  readonly #admin: Admin;
  #groupId = '';
  readonly #handle: (event: JobEvent) => void;
  readonly #logger: Logger;

  constructor(
    client: ClientOptions,
    monitor: BrokerMonitor,
    handle: (event: JobEvent) => void,
    options: EventIntakeOptions,
  ) {
    const { topic, topics, partition, groupPrefix, sessionTimeoutMs } = options;
    this.#handle = handle;
    this.#logger = client.logger;
    this.#admin = createClient(client).admin();
    const plan = {
      topics: [topic],
      group: topics,
      fromBeginning: false,
      config: () => ({
        groupId: this.#newGroup(groupPrefix),
        partitionAssigners: [laneAssigner(partition)],
        sessionTimeout: sessionTimeoutMs,
        heartbeatInterval: sessionTimeoutMs / 4,
        maxWaitTimeInMs: FETCH_WAIT_MS,
        allowAutoTopicCreation: false,
      }),
      run: () => ({
        autoCommit: false,
        eachBatchAutoResolve: true,
        eachBatch: (payload: EachBatchPayload) => this.#take(payload),
      }),
    };
    this.#consumer = new SupervisedConsumer(client, monitor, plan);
  }

  /** As `SupervisedConsumer.skips`. */
  skips(): number {
    return this.#consumer.skips();
  }

  problem(): string | undefined {
    return this.#consumer.problem();
  }

  /** Resolves when every later event will be received. */
  ready(): Promise<void> {
    return this.#consumer.ready();
  }

  async stop(): Promise<void> {
    await this.#consumer.stop();
    await within(DELETE_TIMEOUT_MS, 'deleting the group', this.#deleteGroup()).catch(() => {});
  }

  /** A replacing consumer in a new group need not wait for its predecessor's membership to expire. */
  #newGroup(prefix: string): string {
    this.#groupId = `${prefix}.${randomUUID()}`;
    return this.#groupId;
  }

  async #take({ batch }: EachBatchPayload): Promise<void> {
    for (const message of batch.messages) {
      const event = decodeEvent(message.value);
      if (event === undefined) {
        this.#logger.warn({ topic: batch.topic, offset: message.offset }, 'malformed event skipped');
      } else {
        this.#handle(event);
      }
    }
  }

  /** Tidiness only: the broker would forget the group by itself after a while. */
  async #deleteGroup(): Promise<void> {
    try {
      await this.#admin.connect();
      await this.#admin.deleteGroups([this.#groupId]);
    } catch (error) {
      this.#logger.debug({ err: error, groupId: this.#groupId }, 'consumer group not deleted');
    } finally {
      await this.#admin.disconnect().catch(() => {});
    }
  }
}
