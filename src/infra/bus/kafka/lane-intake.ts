import { setImmediate as nextRound } from 'node:timers/promises';
import type { EachBatchPayload, KafkaMessage } from 'kafkajs';
import { within } from '../../async/timeout.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { JOB_CLASSES, type JobClass, type PointerConsumer, type Slot } from '../bus.ts';
import type { LaneDirectory, LaneLease } from '../lanes.ts';
import { decodePointer } from '../messages.ts';
import type { BrokerMonitor } from './broker-monitor.ts';
import type { ClientOptions } from './client.ts';
import { laneAssigner } from './lane-assigner.ts';
import { Offsets } from './offsets.ts';
import { SupervisedConsumer } from './supervised-consumer.ts';
import type { TopicGroup } from './topic-group.ts';
import { laneTopic } from './topics.ts';

interface LaneIntakeOptions {
  readonly pool: string;
  readonly topicPrefix: string;
  readonly group: TopicGroup;
  readonly lanes: LaneDirectory;
  /** A reader that is silent for this long is dead, and keeps no other from reading; in milliseconds. */
  readonly sessionTimeoutMs: number;
  /** Whether it follows a stopped intake: not having joined yet is no problem then, unless joining fails. */
  readonly again: boolean;
}

/** How long a fetch, and with it a stop or a pause, waits for messages, in milliseconds. */
const FETCH_WAIT_MS = 1000;
/** Of each class: some hundred pointers. What there is no room for is fetched again. */
const MAX_FETCH_BYTES = 65_536;
const ACCEPT_TIMEOUT_MS = 10_000;
const RELEASE_TIMEOUT_MS = 3000;

/** The pointers of one class, while there is no room for them. */
interface Room {
  /** The wait for room; undefined while there is some. */
  wait: Promise<void> | undefined;
  /** The room that has been found, for the next pointer. */
  slot: Slot | undefined;
}

/**
 * Takes the pointers of a lane, of both classes, with one consumer. A class for which the worker has no room is paused,
 * so that the other one goes on, and so do heartbeats.
 */
export class LaneIntake {
  readonly #consumer: SupervisedConsumer;
  readonly #offsets: Offsets;
  readonly #target: PointerConsumer;
  readonly #options: LaneIntakeOptions;
  readonly #logger: Logger;
  readonly #classes: ReadonlyMap<string, JobClass>;
  readonly #rooms: Readonly<Record<JobClass, Room>> = {
    interactive: { wait: undefined, slot: undefined },
    bulk: { wait: undefined, slot: undefined },
  };
  readonly #stopping = new AbortController();
  readonly #accepting = new Set<Promise<void>>();
  #lease: LaneLease | undefined;
  #isLeaving = false;

  constructor(
    client: ClientOptions,
    monitor: BrokerMonitor,
    target: PointerConsumer,
    options: LaneIntakeOptions,
  ) {
    const { pool, topicPrefix, group, sessionTimeoutMs, again } = options;
    this.#target = target;
    this.#options = options;
    this.#logger = client.logger;
    this.#classes = new Map(
      JOB_CLASSES.map((jobClass) => [laneTopic(topicPrefix, pool, jobClass), jobClass]),
    );
    this.#offsets = new Offsets(() => this.#consumer.current());
    this.#consumer = new SupervisedConsumer(client, monitor, {
      topics: [...this.#classes.keys()],
      group,
      fromBeginning: true,
      again,
      prepare: () => this.#prepare(),
      config: () => ({
        groupId: `${topicPrefix}.lanes.${pool}.${this.#lane}`,
        partitionAssigners: [laneAssigner(this.#lane)],
        sessionTimeout: sessionTimeoutMs,
        rebalanceTimeout: Math.max(sessionTimeoutMs, ACCEPT_TIMEOUT_MS),
        heartbeatInterval: sessionTimeoutMs / 4,
        maxWaitTimeInMs: FETCH_WAIT_MS,
        maxBytesPerPartition: MAX_FETCH_BYTES,
        allowAutoTopicCreation: false,
      }),
      run: () => ({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: this.#classes.size,
        eachBatch: (payload) => this.#takeBatch(payload),
      }),
      onJoin: () => this.#joined(),
      onEnd: () => void this.#lease?.reads(false),
      onSkipped: (...skipped) => this.#offsets.note(...skipped),
    });
  }

  /** The lane that it reads; undefined while it has none. */
  get lane(): number | undefined {
    return this.#lease?.lane;
  }

  /** As `SupervisedConsumer.skips`. */
  skips(): number {
    return this.#consumer.skips();
  }

  problem(): string | undefined {
    return this.#consumer.problem();
  }

  /**
   * Gives the lane back, reads until publishers know, takes nothing more, waits for the pointers being accepted, commits,
   * and leaves the group.
   */
  async stop(): Promise<void> {
    this.#isLeaving = true;
    await this.#release();
    this.#stopping.abort();
    try {
      // Otherwise it would be offered the same messages over and over.
      this.#consumer.current()?.pause([...this.#classes.keys()].map((topic) => ({ topic })));
    } catch {
      // Not in the group at the moment: there is nothing to pause.
    }
    for (const { slot } of Object.values(this.#rooms)) slot?.release();
    await within(ACCEPT_TIMEOUT_MS, 'accepting', Promise.all(this.#accepting)).catch(() => {});
    await this.#offsets.close();
    await this.#consumer.stop();
  }

  get #lane(): number {
    return this.#lease?.lane ?? 0;
  }

  async #prepare(): Promise<void> {
    const { lanes, pool, group } = this.#options;
    if (this.#isLeaving) return;
    this.#lease ??= await lanes.take(pool, this.#target.worker, () => this.#lost());
    // The last moment: it was asked to stop meanwhile.
    if (this.#isLeaving) await this.#release();
    else await group.makeLane(this.#lane);
  }

  #lost(): void {
    this.#lease = undefined;
    this.#logger.warn('another worker has the lane of this one, which takes another');
    this.#consumer.replace('the lane is lost');
  }

  async #release(): Promise<void> {
    const lease = this.#lease;
    this.#lease = undefined;
    if (lease === undefined) return;
    await within(RELEASE_TIMEOUT_MS, 'giving the lane back', lease.release()).catch(() => {});
  }

  #joined(): void {
    this.#offsets.forget();
    if (this.#lease !== undefined) void this.#lease.reads(true);
    else if (!this.#isLeaving) this.#consumer.replace('the lane is lost');
  }

  async #takeBatch(payload: EachBatchPayload): Promise<void> {
    const { batch, isRunning, isStale } = payload;
    const jobClass = this.#classes.get(batch.topic)!;
    for (const message of batch.messages) {
      if (this.#stopping.signal.aborted || !isRunning() || isStale()) return;
      const pointer = decodePointer(message.value, this.#options.pool, jobClass);
      if (pointer === undefined) {
        const { topic, partition } = batch;
        this.#logger.warn({ topic, partition, offset: message.offset }, 'malformed pointer skipped');
        this.#taken(message, payload);
        continue;
      }
      const slot = await this.#room(jobClass);
      if (slot === undefined) {
        this.#pause(jobClass, payload);
        return;
      }
      const accepting = this.#target.accept(pointer, slot).catch((error: unknown) => {
        // The sweep publishes it again; a stopped lane would hold up all others.
        slot.release();
        this.#logger.error({ err: error, jobId: pointer.jobId }, 'pointer not accepted');
      });
      const noted = accepting.then(() => this.#taken(message, payload));
      this.#accepting.add(noted);
      await noted;
      this.#accepting.delete(noted);
    }
  }

  /** @returns room for one pointer of a class, if there is some at once; otherwise it is waited for. */
  async #room(jobClass: JobClass): Promise<Slot | undefined> {
    const room = this.#rooms[jobClass];
    if (room.slot === undefined && room.wait === undefined) {
      const { signal } = this.#stopping;
      room.wait = this.#target.reserve(jobClass, signal).then(
        (slot) => {
          room.wait = undefined;
          if (signal.aborted) slot.release();
          else room.slot = slot;
        },
        (error: unknown) => {
          room.wait = undefined;
          if (!signal.aborted)
            this.#logger.error({ err: error, class: jobClass }, 'no room could be reserved');
        },
      );
      // Room that there is comes at once.
      await Promise.race([room.wait, nextRound()]);
    }
    const { slot } = room;
    room.slot = undefined;
    return slot;
  }

  /** Fetches no more pointers of a class until there is room for one. */
  #pause(jobClass: JobClass, { pause }: EachBatchPayload): void {
    const { wait } = this.#rooms[jobClass];
    // There may be room by now.
    if (wait === undefined) return;
    const resume = pause();
    void wait.then(resume).catch(() => {
      // Its consumer has been replaced, and the next one has nothing paused.
    });
  }

  #taken({ offset }: KafkaMessage, { batch, resolveOffset }: EachBatchPayload): void {
    this.#consumer.alive();
    try {
      resolveOffset(offset);
    } catch {
      // The group was joined again meanwhile: it comes again, and the job will be found to be claimed.
      return;
    }
    this.#offsets.note(batch.topic, batch.partition, String(BigInt(offset) + 1n));
  }
}
