import type { Admin } from 'kafkajs';
import { EVENT_TOPICS, type EventTopic, type JobClass } from '../bus.ts';

export interface TopicNames {
  readonly pointers: Readonly<Record<JobClass, string>>;
  readonly events: Readonly<Record<EventTopic, string>>;
}

export function topicNames(prefix: string): TopicNames {
  return {
    pointers: { interactive: `${prefix}.renders.interactive`, bulk: `${prefix}.renders.bulk` },
    events: { outcomes: `${prefix}.events.outcomes`, cancels: `${prefix}.events.cancels` },
  };
}

const HOUR_MS = 3_600_000;

/**
 * Creates the topics that are missing. Any number of processes may do so at once: who comes second finds them there.
 * Topics that exist are left as they are.
 */
export async function ensureTopics(
  admin: Admin,
  names: TopicNames,
  options: { readonly partitions: number; readonly replicationFactor: number },
): Promise<void> {
  const existing = new Set(await admin.listTopics());
  const topic = (name: string, numPartitions: number, retentionMs: number) => ({
    topic: name,
    numPartitions,
    replicationFactor: options.replicationFactor,
    configEntries: [{ name: 'retention.ms', value: String(retentionMs) }],
  });
  const missing = [
    // An old pointer is of no use: the sweep has long published another.
    topic(names.pointers.interactive, options.partitions, 24 * HOUR_MS),
    topic(names.pointers.bulk, options.partitions, 24 * HOUR_MS),
    // One partition: every process reads all of it, in order.
    ...EVENT_TOPICS.map((events) => topic(names.events[events], 1, HOUR_MS)),
  ].filter(({ topic }) => !existing.has(topic));
  if (missing.length > 0) await admin.createTopics({ topics: missing, waitForLeaders: true });
}
