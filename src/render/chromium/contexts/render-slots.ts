import { EventEmitter } from 'node:events';
import type { Page } from 'puppeteer';
import { Cluster } from 'puppeteer-cluster';
import concurrency, {
  type WorkerInstance,
} from 'puppeteer-cluster/dist/concurrency/ConcurrencyImplementation.js';
import type { CancelScope } from '../cancel-scope.ts';

/** A cluster job's timeout, in milliseconds: setTimeout's limit. A slot that is older goes on all the same. */
const LONGEST_MS = 2 ** 31 - 1;

/** Runs one render, and never rejects. */
type Turn = () => Promise<void>;

/**
 * The slots of a renderer, each for one render at a time. When none is free, a render waits here, and nowhere else in
 * the renderer, until its job ends.
 *
 * The slots are the workers of one puppeteer-cluster. Each worker has one job for as long as it lives, which runs one
 * render after another: see docs/decisions/0031-one-cluster.md.
 */
export class RenderSlots {
  readonly total: number;
  readonly #cluster: Cluster<undefined, void>;
  #arrivals!: ReadableStreamDefaultController<Turn>;
  /** Renders in the order of their arrival. The slot that has waited longest reads the next one. */
  readonly #turns = new ReadableStream<Turn>({
    start: (controller) => {
      this.#arrivals = controller;
    },
  }).getReader();
  #busy = 0;
  /** Slots that have started. */
  #serving = 0;

  private constructor(total: number, cluster: Cluster<undefined, void>) {
    this.total = total;
    this.#cluster = cluster;
  }

  /** Resolves before all slots have started: the cluster starts one in 20 ms. @param total renders at a time. */
  static async launch(total: number): Promise<RenderSlots> {
    const cluster: Cluster<undefined, void> = await Cluster.launch({
      concurrency: SlotWorkers,
      maxConcurrency: total,
      timeout: LONGEST_MS,
      // Required by the cluster, which would otherwise import it; unused, since the cluster launches nothing.
      puppeteer: {},
    });
    const slots = new RenderSlots(total, cluster);
    // A job could only fail by its timeout.
    for (let i = 0; i < total; i++) cluster.execute(() => slots.#serve()).catch(() => undefined);
    return slots;
  }

  get busy(): number {
    return this.#busy;
  }

  /** @throws the rejection of `work`; the error of `end` when that comes before a slot is free. */
  run<T>(end: CancelScope, work: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const { signal } = end;
    const leave = () => reject(signal.reason);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    this.#arrivals.enqueue(async () => {
      signal.removeEventListener('abort', leave);
      if (signal.aborted) return;
      this.#busy++;
      try {
        resolve(await work());
      } catch (error) {
        reject(error);
      } finally {
        this.#busy--;
      }
    });
    return promise;
  }

  /** Ends the slots. The renders in them must have been ended before. */
  async close(): Promise<void> {
    this.#arrivals.close();
    await this.#cluster.close();
  }

  /** The job of a worker. */
  async #serve(): Promise<void> {
    if (++this.#serving === this.total) stopLooking(this.#cluster);
    for (let turn = await this.#turns.read(); !turn.done; turn = await this.#turns.read()) await turn.value();
  }
}

/**
 * Ends the timer by which the cluster looks for work ten times a second, once it has none left to find. Its field is a
 * private one: under another name the cluster would go on looking, which costs a process at rest a tenth of its time.
 */
function stopLooking(cluster: object): void {
  clearInterval(Reflect.get(cluster, 'checkForWorkInterval'));
}

/** Workers that own nothing: a render leases its context when it has a slot, since its account is known only then. */
class SlotWorkers extends concurrency.default {
  async init(): Promise<void> {}
  async close(): Promise<void> {}
  async workerInstance(): Promise<WorkerInstance> {
    const nothing = async () => undefined;
    // The cluster listens for errors of a page, which here are those of a render.
    const page = new EventEmitter() as unknown as Page;
    return {
      jobInstance: async () => ({ resources: { page }, close: nothing }),
      close: nothing,
      repair: nothing,
    };
  }
}
