import type { Logger } from '../../infra/telemetry/logger.ts';
import type { WorkerRegistry } from '../../work/pools/worker-registry.ts';

/** In milliseconds. A worker obeys a request within three seconds; one that it has not obeyed by then is sent again. */
const AGAIN_AFTER_MS = 5000;

/** Asks workers to pause or to resume claiming, without writing the same request every second. */
export class WorkerRequests {
  readonly #registry: Pick<WorkerRegistry, 'requestPause' | 'cancelPause'>;
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #sent = new Map<string, { readonly paused: boolean; readonly atMs: number }>();

  constructor(registry: Pick<WorkerRegistry, 'requestPause' | 'cancelPause'>, logger: Pick<Logger, 'warn'>) {
    this.#registry = registry;
    this.#logger = logger;
  }

  /**
   * Never fails: nothing follows from a request before the worker has reported that it obeys.
   *
   * @param pause ids of workers that are to pause; a worker in neither list stays as it is.
   */
  async send(pause: readonly string[], resume: readonly string[], nowMs: number): Promise<void> {
    for (const [id, { atMs }] of this.#sent) if (nowMs - atMs >= AGAIN_AFTER_MS) this.#sent.delete(id);
    const isNew = (paused: boolean) => (id: string) => this.#sent.get(id)?.paused !== paused;
    const toPause = pause.filter(isNew(true));
    const toResume = resume.filter(isNew(false));
    try {
      await this.#registry.requestPause(toPause);
      await this.#registry.cancelPause(toResume);
    } catch (error) {
      this.#logger.warn({ err: error }, 'workers could not be asked to pause; the request will be repeated');
      return;
    }
    for (const id of toPause) this.#sent.set(id, { paused: true, atMs: nowMs });
    for (const id of toResume) this.#sent.set(id, { paused: false, atMs: nowMs });
  }
}
