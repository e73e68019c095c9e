import { EventEmitter } from 'node:events';
import {
  type Bus,
  JOB_CLASSES,
  type JobClass,
  type JobEvent,
  type JobPointer,
  type PointerConsumer,
} from './bus.ts';

/** A queue that one reader waits at. */
class PointerQueue {
  readonly #pointers: JobPointer[] = [];
  #arrived: (() => void) | undefined;

  push(pointer: JobPointer): void {
    this.#pointers.push(pointer);
    this.#arrived?.();
  }

  /** Resolves when there is a pointer, or the signal aborts. */
  async arrival(signal: AbortSignal): Promise<void> {
    while (this.#pointers.length === 0 && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
  }

  shift(): JobPointer | undefined {
    return this.#pointers.shift();
  }
}

/**
 * A bus within one process: what standalone runs on. Nothing is bounded here, since plan slots bound what is
 * published; and nothing survives the process, which the sweeps make up for.
 */
export function createInProcessBus(): Bus {
  const queues: Record<JobClass, PointerQueue> = {
    interactive: new PointerQueue(),
    bulk: new PointerQueue(),
  };
  const events = new EventEmitter().setMaxListeners(0);

  async function read(jobClass: JobClass, consumer: PointerConsumer, signal: AbortSignal): Promise<void> {
    const queue = queues[jobClass];
    for (;;) {
      await queue.arrival(signal);
      if (signal.aborted) return;
      // The seat comes first: a pointer that nobody has room for stays where it is.
      const seat = await consumer.reserve(jobClass, signal).catch(() => undefined);
      const pointer = seat === undefined ? undefined : queue.shift();
      if (seat === undefined || pointer === undefined) {
        seat?.release();
        if (signal.aborted) return;
        continue;
      }
      // Not awaited: the next claim need not wait for this one.
      const accepted = consumer.accept(pointer, seat).finally(() => accepting.delete(accepted));
      accepting.add(accepted);
    }
  }
  const accepting = new Set<Promise<void>>();

  return {
    async publishPointer(pointer) {
      queues[pointer.class].push(pointer);
    },
    async consumePointers(consumer) {
      const stopping = new AbortController();
      const readers = JOB_CLASSES.map((jobClass) => read(jobClass, consumer, stopping.signal));
      return {
        async stop() {
          stopping.abort(new Error('the consumer stops'));
          await Promise.all(readers);
          await Promise.allSettled(accepting);
        },
      };
    },
    async publishEvent(event) {
      events.emit('event', event);
    },
    async subscribeEvents(handler: (event: JobEvent) => void) {
      events.on('event', handler);
      return {
        async stop() {
          events.off('event', handler);
        },
      };
    },
    problem: () => undefined,
    async close() {
      events.removeAllListeners();
    },
  };
}
