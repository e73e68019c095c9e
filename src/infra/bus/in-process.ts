import { withoutCaller } from '../async/caller-scope.ts';
import type { Logger } from '../telemetry/logger.ts';
import {
  type Bus,
  type EventTopic,
  JOB_CLASSES,
  type JobClass,
  type JobEvent,
  type JobPointer,
  type PointerConsumer,
  type Subscription,
} from './bus.ts';
import { EventHandlers } from './event-handlers.ts';
import { PointerQueue } from './pointer-queue.ts';

/**
 * The bus of a single process: two queues for each pool, in order of arrival, bounded by the plan slots behind every
 * pointer. When the process ends, the dispatcher's sweeps find the jobs of the pointers left in them.
 */
export function createInProcessBus(options: { readonly logger?: Logger } = {}): Bus {
  return new InProcessBus(options.logger);
}

type PoolQueues = Readonly<Record<JobClass, PointerQueue>>;

class InProcessBus implements Bus {
  readonly address = undefined;
  readonly #logger: Logger | undefined;
  readonly #pools = new Map<string, PoolQueues>();
  readonly #handlers: EventHandlers;
  #consumption: Consumption | undefined;
  #closed = false;

  constructor(logger: Logger | undefined) {
    this.#logger = logger;
    this.#handlers = new EventHandlers(logger);
  }

  async publishPointer(pointer: JobPointer): Promise<void> {
    if (this.#closed) throw new Error('The bus is closed.');
    this.#queuesOf(pointer.pool)[pointer.class].push(pointer);
    // The worker renders for as long as it takes, also when a request has published the pointer.
    withoutCaller(() => {
      if (this.#consumption?.pool === pointer.pool) this.#consumption.wake(pointer.class);
    });
  }

  async consumePointers(pool: string, consumer: PointerConsumer): Promise<Subscription> {
    if (this.#consumption !== undefined) throw new Error('The bus has a consumer already.');
    const consumption = new Consumption(pool, consumer, this.#queuesOf(pool), this.#logger);
    this.#consumption = consumption;
    return {
      stop: async () => {
        await consumption.stop();
        if (this.#consumption === consumption) this.#consumption = undefined;
      },
    };
  }

  /** There is no other worker. */
  async offerPointer(): Promise<boolean> {
    return false;
  }

  async publishEvent(event: JobEvent): Promise<void> {
    if (this.#closed) throw new Error('The bus is closed.');
    // Not in the publisher's own stack: the publisher may be in the middle of something.
    withoutCaller(() => queueMicrotask(() => this.#handlers.deliver(event)));
  }

  async subscribeEvents(topic: EventTopic, handler: (event: JobEvent) => void): Promise<Subscription> {
    const end = this.#handlers.add(topic, handler);
    return { stop: async () => end() };
  }

  skips(): number {
    return 0;
  }

  problem(): string | undefined {
    return this.#closed ? 'the bus is closed' : undefined;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#consumption?.stop();
    this.#consumption = undefined;
    this.#handlers.clear();
  }

  #queuesOf(pool: string): PoolQueues {
    const known = this.#pools.get(pool);
    if (known !== undefined) return known;
    const queues = { interactive: new PointerQueue(), bulk: new PointerQueue() };
    this.#pools.set(pool, queues);
    return queues;
  }
}

/** Takes pointers of one pool until it is stopped; a class reserves a slot before it takes a pointer. */
class Consumption {
  readonly pool: string;
  readonly #consumer: PointerConsumer;
  readonly #queues: PoolQueues;
  readonly #logger: Logger | undefined;
  readonly #stopped = new AbortController();
  readonly #taking = new Map<JobClass, Promise<void>>();
  readonly #accepting = new Set<Promise<void>>();

  constructor(pool: string, consumer: PointerConsumer, queues: PoolQueues, logger: Logger | undefined) {
    this.pool = pool;
    this.#consumer = consumer;
    this.#queues = queues;
    this.#logger = logger;
    for (const jobClass of JOB_CLASSES) this.wake(jobClass);
  }

  /** Starts to empty a queue, unless that is going on already. */
  wake(jobClass: JobClass): void {
    if (this.#taking.has(jobClass) || this.#queues[jobClass].size === 0) return;
    const taking = this.#take(jobClass).then(
      () => {
        this.#taking.delete(jobClass);
        // For pointers that came between the last check of the queue and now.
        if (!this.#stopped.signal.aborted) this.wake(jobClass);
      },
      (error: unknown) => {
        this.#taking.delete(jobClass);
        if (this.#stopped.signal.aborted) return;
        this.#logger?.error({ err: error, class: jobClass }, 'no slot could be reserved');
      },
    );
    this.#taking.set(jobClass, taking);
  }

  async #take(jobClass: JobClass): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted && this.#queues[jobClass].size > 0) {
      const slot = await this.#consumer.reserve(jobClass, signal);
      const pointer = signal.aborted ? undefined : this.#queues[jobClass].shift();
      if (pointer === undefined) {
        slot.release();
        return;
      }
      const accepting = this.#consumer
        .accept(pointer, slot)
        .catch((error: unknown) => {
          slot.release();
          this.#logger?.error({ err: error, jobId: pointer.jobId }, 'pointer not accepted');
        })
        .finally(() => this.#accepting.delete(accepting));
      this.#accepting.add(accepting);
    }
  }

  /** Takes nothing more; resolves when the pointers being accepted are. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#taking.values());
    await Promise.all(this.#accepting);
  }
}
