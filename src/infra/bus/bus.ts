/**
 * Messages between processes. They carry pointers to jobs, never documents, and may be lost, repeated or reordered: the
 * database is the truth, and every consumer checks a message against it.
 */

/** Interactive: a caller waits for the response. Bulk: asynchronous jobs and batches. */
export type JobClass = 'interactive' | 'bulk';
export const JOB_CLASSES: readonly JobClass[] = ['interactive', 'bulk'];

/** "This job may run now." Valid only while the job still has this version. */
export interface JobPointer {
  readonly jobId: string;
  readonly version: number;
  readonly class: JobClass;
  /** The pool whose workers may run it; matches PLAN_OR_POOL_NAME of src/tenants/plans/names.ts. */
  readonly pool: string;
  /** Account and shard: spreads work over workers while keeping an account near its warm contexts. */
  readonly routingKey: string;
  /** Whether the input has a record of its own, which can be read before the job is claimed. */
  readonly ownInput?: true;
}

/** "Something happened to this job." A hint to read the job's record, which says what. */
export interface JobEvent {
  readonly jobId: string;
  /** `offered`: its PDF is rendered, and is not stored yet. */
  readonly kind: 'offered' | 'ended' | 'retrying' | 'cancelled';
  /** Of a PDF that is offered: where it can be had meanwhile. */
  readonly offer?: OutputOffer;
  /** The address of the process that waits for an outcome; without one, only listeners in the same process hear of it. */
  readonly to?: number | undefined;
  /** The record, for listeners in the same process: it is not sent to others. */
  readonly record?: unknown;
}

/** Where a worker sends a PDF once, encrypted. */
export interface OutputOffer {
  readonly url: string;
  /** In base64url. */
  readonly key: string;
}

/** A process with waiting callers reads the outcomes that are sent to it, and every worker reads cancels. */
export type EventTopic = 'outcomes' | 'cancels';
export const EVENT_TOPICS: readonly EventTopic[] = ['outcomes', 'cancels'];

export function topicOf(event: JobEvent): EventTopic {
  return event.kind === 'cancelled' ? 'cancels' : 'outcomes';
}

/** The account of a job, by the routing key of its pointer. */
export function accountOf(routingKey: string): string {
  const end = routingKey.lastIndexOf(':');
  return end === -1 ? routingKey : routingKey.slice(0, end);
}

/**
 * The routing key of a job that may go to any worker, since it would wait where the others of its account go.
 *
 * @param salt another one leads to another worker.
 */
export function anywhere(routingKey: string, salt: string): string {
  return `${accountOf(routingKey)}:~${salt}`;
}

/** The part of a worker that the bus calls. */
export interface PointerConsumer {
  /** The name of the worker in leases. */
  readonly worker: string;
  /**
   * Resolves when there is room for a pointer of this class, with a slot held for it. Rejects when `signal` aborts.
   * May take as long as a render does: the bus keeps its session alive meanwhile.
   */
  reserve(jobClass: JobClass, signal: AbortSignal): Promise<Slot>;
  /**
   * Takes the pointer and resolves; the job continues in the background and releases the slot. The message is
   * acknowledged after this resolves. Never rejects for an error of the job.
   */
  accept(pointer: JobPointer, slot: Slot): Promise<void>;
}

/** Room for one job in a worker. The first `release` frees it; further calls do nothing. */
export interface Slot {
  release(): void;
}

export interface Subscription {
  /** Stops delivery; resolves when no handler is running any more. */
  stop(): Promise<void>;
}

export interface Bus {
  /**
   * Resolves when the pointer is durably on its way; rejects when it is not. The job is safe either way. A pointer for
   * a pool without workers waits for the first worker of that pool.
   */
  publishPointer(pointer: JobPointer): Promise<void>;
  /**
   * Sends a pointer that waits at this process's own consumer to another worker that has a free slot, too.
   *
   * @returns whether such a worker is known. @throws as `publishPointer`.
   */
  offerPointer(pointer: JobPointer): Promise<boolean>;
  /**
   * Starts taking pointers of one pool, of both classes. A Bus has at most one consumer at a time; another one may
   * follow after its subscription has been stopped. Its pointers go to other workers meanwhile.
   */
  consumePointers(pool: string, consumer: PointerConsumer): Promise<Subscription>;
  publishEvent(event: JobEvent): Promise<void>;
  /** Where outcomes are sent that concern this process; undefined when no other process sends any. */
  readonly address: number | undefined;
  /**
   * Every subscriber of every process gets every event published after it subscribed (best effort), and of outcomes
   * those that are sent to its address; others may be among them.
   */
  subscribeEvents(topic: EventTopic, handler: (event: JobEvent) => void): Promise<Subscription>;
  /** @returns what is wrong, or undefined when the bus can carry messages. */
  problem(): string | undefined;
  /** How often messages were skipped because a batch among them could not be read; for counters. */
  skips(): number;
  /** Flushes what is being sent, for at most three seconds, and disconnects. */
  close(): Promise<void>;
}
