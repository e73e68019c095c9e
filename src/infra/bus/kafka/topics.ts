import { setTimeout as sleep } from 'node:timers/promises';
import type { Admin, ITopicConfig } from 'kafkajs';
import { EVENT_TOPICS, type EventTopic, JOB_CLASSES, type JobClass } from '../bus.ts';

const HOUR_MS = 3_600_000;
const MAX_BATCH_BYTES = 1_048_588;
/** Between two checks of topics that have just been created, in milliseconds. */
const CHECK_MS = 100;
/** The most checks of one creation: ten seconds and their responses. */
const MOST_CHECKS = 100;
/** What a broker responds to questions about a topic whose creation it has not learnt of yet. */
const NOT_YET: readonly unknown[] = ['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE'];

/** How topics are created; existing ones are left as they are. */
export interface TopicSettings {
  readonly prefix: string;
  /** Of each pointer topic. */
  readonly partitions: number;
  readonly replicationFactor: number;
}

export function pointerTopic(prefix: string, pool: string, jobClass: JobClass): string {
  return `${prefix}.renders.${pool}.${jobClass}`;
}

export function eventTopic(prefix: string, topic: EventTopic): string {
  return `${prefix}.events.${topic}`;
}

/** The configuration of the topics of one pool. */
export function pointerTopics(settings: TopicSettings, pool: string): ITopicConfig[] {
  const { prefix, partitions, replicationFactor } = settings;
  return JOB_CLASSES.map((jobClass) => ({
    topic: pointerTopic(prefix, pool, jobClass),
    numPartitions: partitions,
    replicationFactor,
    // An old pointer is of no use: the sweep has long published another.
    configEntries: retention(24 * HOUR_MS),
  }));
}

/** The configuration of the topics of events. */
export function eventTopics({ prefix, replicationFactor }: TopicSettings): ITopicConfig[] {
  return EVENT_TOPICS.map((topic) => ({
    topic: eventTopic(prefix, topic),
    // One partition: every process reads all of it, in order.
    numPartitions: 1,
    replicationFactor,
    configEntries: retention(HOUR_MS),
  }));
}

function retention(ms: number): ITopicConfig['configEntries'] {
  return [
    { name: 'retention.ms', value: String(ms) },
    // Kafka's own default, also where a broker has been set to more: what one batch may hold is in memory at once.
    { name: 'max.message.bytes', value: String(MAX_BATCH_BYTES) },
  ];
}

/** @returns the number of partitions of the topic with the fewest. */
export async function countPartitions(admin: Admin, names: readonly string[]): Promise<number> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [...names] });
  return Math.min(...topics.map(({ partitions }) => partitions.length));
}

/** @returns the offset that the next message of each partition will have, by partition. */
export async function endsOf(admin: Admin, topic: string): Promise<Map<number, string>> {
  const offsets = await admin.fetchTopicOffsets(topic);
  return new Map(offsets.map(({ partition, high }) => [partition, high]));
}

/**
 * Raises topics with fewer than `count` partitions to it. Their readers and writers notice by themselves, a little
 * later.
 *
 * @throws when it is not allowed, or another client is doing it.
 */
export async function raisePartitions(admin: Admin, names: readonly string[], count: number): Promise<void> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [...names] });
  const few = topics.filter(({ partitions }) => partitions.length < count);
  if (few.length === 0) return;
  await admin.createPartitions({ topicPartitions: few.map(({ name: topic }) => ({ topic, count })) });
}

/** Creates missing topics, and resolves when the brokers know them. Several processes may do so at once. */
export async function createMissing(admin: Admin, topics: readonly ITopicConfig[]): Promise<void> {
  const existing = new Set(await admin.listTopics());
  const missing = topics.filter(({ topic }) => !existing.has(topic));
  if (missing.length === 0) return;
  // With waitForLeaders the client fails when a broker has not learnt of them yet.
  await admin.createTopics({ topics: missing, waitForLeaders: false });
  await becomeKnown(admin, missing);
}

/** Resolves when the brokers know topics with their leaders. @throws when they do not for long, or do not respond. */
async function becomeKnown(admin: Admin, topics: readonly ITopicConfig[]): Promise<void> {
  for (let check = 1; ; check += 1) {
    try {
      await admin.fetchTopicMetadata({ topics: topics.map(({ topic }) => topic) });
      return;
    } catch (error) {
      if (check === MOST_CHECKS || !NOT_YET.includes((error as { type?: unknown }).type)) throw error;
      await sleep(CHECK_MS);
    }
  }
}
