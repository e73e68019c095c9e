import type { Logger } from '../telemetry/logger.ts';
import { type EventTopic, type JobEvent, topicOf } from './bus.ts';

/** The event handlers of this process. A handler that fails does not keep the event from the others. */
export class EventHandlers {
  readonly #handlers: Record<EventTopic, Set<(event: JobEvent) => void>> = {
    outcomes: new Set(),
    cancels: new Set(),
  };
  readonly #logger: Logger | undefined;

  constructor(logger: Logger | undefined) {
    this.#logger = logger;
  }

  /** @returns a function that ends the subscription. */
  add(topic: EventTopic, handler: (event: JobEvent) => void): () => void {
    // A separate function for each subscription, since the same handler may be added twice.
    const own = (event: JobEvent) => handler(event);
    this.#handlers[topic].add(own);
    return () => void this.#handlers[topic].delete(own);
  }

  deliver(event: JobEvent): void {
    for (const handler of [...this.#handlers[topicOf(event)]]) {
      try {
        handler(event);
      } catch (error) {
        this.#logger?.error({ err: error, jobId: event.jobId }, 'event handler failed');
      }
    }
  }

  clear(): void {
    for (const handlers of Object.values(this.#handlers)) handlers.clear();
  }
}
