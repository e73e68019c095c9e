/**
 * Messages between processes. They carry pointers to jobs, never documents, and may be lost, repeated or reordered: the
 * database is the truth, and every consumer checks what it is told against it.
 */

/** Interactive: a caller is waiting for the answer. Bulk: asynchronous jobs and batches. */
export type JobClass = 'interactive' | 'bulk';
export const JOB_CLASSES: readonly JobClass[] = ['interactive', 'bulk'];

/** "This job may run now." Valid only while the job still has this version. */
export interface JobPointer {
  readonly jobId: string;
  readonly version: number;
  readonly class: JobClass;
  /** The pool whose workers may run it; matches PLAN_OR_POOL_NAME of src/plans/names.ts. */
  readonly pool: string;
  /** Account and shard: spreads work over workers while keeping an account near its warm contexts. */
  readonly routingKey: string;
}

/** "Something happened to this job." A hint to look; the job record says what. */
export interface JobEvent {
  readonly jobId: string;
  readonly kind: 'ended' | 'retrying' | 'cancelled';
  /** The record, for listeners in the same process: it is not sent to others. */
  readonly record?: unknown;
}

/** Outcomes are for who waits for a job, cancels for who runs it: neither has to read the other's. */
export type EventTopic = 'outcomes' | 'cancels';
export const EVENT_TOPICS: readonly EventTopic[] = ['outcomes', 'cancels'];

export function topicOf(event: JobEvent): EventTopic {
  return event.kind === 'cancelled' ? 'cancels' : 'outcomes';
}

/** Whose job it is, by the routing key of its pointer. */
export function accountOf(routingKey: string): string {
  const end = routingKey.lastIndexOf(':');
  return end === -1 ? routingKey : routingKey.slice(0, end);
}

/**
 * The routing key of a job that may go to any worker, since it waits where the others of its account go.
 *
 * @param salt another one leads elsewhere.
 */
export function anywhere(routingKey: string, salt: string): string {
  return `${accountOf(routingKey)}:~${salt}`;
}

/** What a worker offers to the bus. */
export interface PointerConsumer {
  /**
   * Resolves when there is room for a pointer of this class, with a slot held for it. Rejects when `signal` aborts.
   * May take as long as a render does: the bus keeps its session alive meanwhile.
   */
  reserve(jobClass: JobClass, signal: AbortSignal): Promise<Slot>;
  /**
   * Takes the pointer and resolves; what comes of it goes on behind it and releases the slot. The message is acknowledged
   * after this resolves. Never rejects for a fault of the job.
   */
  accept(pointer: JobPointer, slot: Slot): Promise<void>;
  /** Told when the pointers of a class are shared out anew among the workers: those that wait here are for others to take. */
  regrouped?(jobClass: JobClass): Promise<void>;
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
   * Resolves when the pointer is on its way for good; rejects when it is not. The job is safe either way. A pointer for
   * a pool that nobody serves yet waits for the first worker of that pool.
   */
  publishPointer(pointer: JobPointer): Promise<void>;
  /**
   * Starts taking pointers of one pool, of both classes. At most one consumer per Bus at a time; one may come again after
   * its subscription has been stopped. The pointers that it would have taken go to others meanwhile.
   */
  consumePointers(pool: string, consumer: PointerConsumer): Promise<Subscription>;
  /**
   * Sees to it, as far as it may, that so many workers of a pool can take pointers at the same time.
   *
   * @returns how many can; those past it would get none. Undefined when nothing bounds them.
   * @throws when that could not be found out.
   */
  makeRoom(pool: string, workers: number): Promise<number | undefined>;
  publishEvent(event: JobEvent): Promise<void>;
  /** Every subscriber of every process sees every event of the topic published after it subscribed (at best effort). */
  subscribeEvents(topic: EventTopic, handler: (event: JobEvent) => void): Promise<Subscription>;
  /** Names what is wrong, or undefined when the bus can carry messages. */
  problem(): string | undefined;
  /** Flushes what is being sent (for at most a few seconds) and disconnects. */
  close(): Promise<void>;
}
