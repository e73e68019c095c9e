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
  readonly kind: 'ended' | 'retrying' | 'cancelled';
  /** The record, for listeners in the same process: it is not sent to others. */
  readonly record?: unknown;
}

/** Processes with waiting callers read outcomes, workers read cancels: neither has to read the other's events. */
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
  /** Called when the pointers of a class are redistributed: those that wait here are for other workers. */
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
   * Resolves when the pointer is durably on its way; rejects when it is not. The job is safe either way. A pointer for
   * a pool without workers waits for the first worker of that pool.
   */
  publishPointer(pointer: JobPointer): Promise<void>;
  /**
   * Starts taking pointers of one pool, of both classes. A Bus has at most one consumer at a time; another one may
   * follow after its subscription has been stopped. Its pointers go to other workers meanwhile.
   */
  consumePointers(pool: string, consumer: PointerConsumer): Promise<Subscription>;
  /**
   * Makes it possible, as far as allowed, for `workers` workers of a pool to take pointers at the same time.
   *
   * @returns how many workers can; further ones would get none. Undefined when nothing bounds them.
   * @throws when that could not be determined.
   */
  makeRoom(pool: string, workers: number): Promise<number | undefined>;
  publishEvent(event: JobEvent): Promise<void>;
  /** Every subscriber of every process gets every event published after it subscribed (best effort). */
  subscribeEvents(topic: EventTopic, handler: (event: JobEvent) => void): Promise<Subscription>;
  /** @returns what is wrong, or undefined when the bus can carry messages. */
  problem(): string | undefined;
  /** How often messages were skipped because a batch among them could not be read; for counters. */
  skips(): number;
  /** Flushes what is being sent, for at most three seconds, and disconnects. */
  close(): Promise<void>;
}
