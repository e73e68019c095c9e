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

/** Partitions of a new topic of lanes. Their number doubles as workers become more, and never falls. */
const LEAST_PARTITIONS = 16;

/** How topics are created. */
export interface TopicSettings {
  readonly prefix: string;
  readonly replicationFactor: number;
}

/** A partition of it is the lane of one worker. */
export function laneTopic(prefix: string, pool: string, jobClass: JobClass): string {
  return `${prefix}.lanes.${pool}.${jobClass}`;
}

/** The topic that workers of a version without lanes share. */
export function earlierTopic(prefix: string, pool: string, jobClass: JobClass): string {
  return `${prefix}.renders.${pool}.${jobClass}`;
}

export function eventTopic(prefix: string, topic: EventTopic): string {
  return `${prefix}.events.${topic === 'outcomes' ? 'replies' : topic}`;
}

/** Partitions of outcomes. A process reads one; that others read the same one costs them some messages. */
export const ADDRESSES = 64;

/** The configuration of the topics of one pool. */
export function laneTopics({ prefix, replicationFactor }: TopicSettings, pool: string): ITopicConfig[] {
  return JOB_CLASSES.map((jobClass) => ({
    topic: laneTopic(prefix, pool, jobClass),
    numPartitions: LEAST_PARTITIONS,
    replicationFactor,
    // An old pointer is of no use: the sweep has long published another.
    configEntries: retention(24 * HOUR_MS),
  }));
}

/** The configuration of the topics of events. */
export function eventTopics({ prefix, replicationFactor }: TopicSettings): ITopicConfig[] {
  return EVENT_TOPICS.map((topic) => ({
    topic: eventTopic(prefix, topic),
    numPartitions: topic === 'outcomes' ? ADDRESSES : 1,
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

/** @returns the offset that the next message of each partition will have, by partition. */
export async function endsOf(admin: Admin, topic: string): Promise<Map<number, string>> {
  const offsets = await admin.fetchTopicOffsets(topic);
  return new Map(offsets.map(({ partition, high }) => [partition, high]));
}

/**
 * Makes partitions where topics have none for a lane: twice as many as before, so that clients seldom learn of new ones.
 *
 * @throws when that is not allowed, or the brokers do not respond.
 */
export async function makeLane(admin: Admin, names: readonly string[], lane: number): Promise<void> {
  const few = await withoutLane(admin, names, lane);
  if (few.length === 0) return;
  const count = Math.max(LEAST_PARTITIONS, 2 ** Math.ceil(Math.log2(lane + 1)));
  try {
    await admin.createPartitions({ topicPartitions: few.map((topic) => ({ topic, count })) });
  } catch (error) {
    // Another worker may have made the same.
    if ((await withoutLane(admin, names, lane)).length === 0) return;
    const reason = (error as Error).message;
    throw new Error(`${few[0]} has no partition ${lane} for this worker, and gets none: ${reason}`);
  }
}

async function withoutLane(admin: Admin, names: readonly string[], lane: number): Promise<string[]> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [...names] });
  return topics.filter(({ partitions }) => partitions.length <= lane).map(({ name }) => name);
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
