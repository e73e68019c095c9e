import type { Page } from 'puppeteer';
import { Cluster } from 'puppeteer-cluster';
import concurrency, {
  type ConcurrencyImplementationClassType,
  type JobInstance,
  type WorkerInstance,
} from 'puppeteer-cluster/dist/concurrency/ConcurrencyImplementation.js';
import type { CancelScope } from '../cancel-scope.ts';
import type { ContextNeeds } from './render-context.ts';
import { type ContextLender, type RenderWork, SlotJob } from './slot-job.ts';

/** A cluster job's timeout, in milliseconds: setTimeout's limit. A render ends by its own deadline. */
const NEVER_MS = 2 ** 31 - 1;

/** Resolves a slot's wait with a render, or with nothing when the slots are closed. */
type StandBy = (render: SlotJob | undefined) => void;

/**
 * The slots of a renderer, each for one render at a time in a context of its account. When none is free, a render waits
 * here, and nowhere else in the renderer, until its job ends.
 *
 * The slots are the workers of one puppeteer-cluster, and each render is one cluster job: the job waits for a render,
 * then leases the render's context, and gives the context back when it ends. The cluster's own error handling is never
 * used, since an error ends the render and not the cluster job: see docs/decisions/0031-one-cluster.md.
 */
export class RenderSlots {
  readonly total: number;
  readonly #contexts: ContextLender;
  /** Slots that wait for a render, the longest waiting one first. */
  readonly #standingBy = new Set<StandBy>();
  /** Renders that wait for a slot, in the order of their arrival. */
  readonly #waiting = new Set<SlotJob>();
  #busy = 0;
  #cluster: Cluster<undefined, void> | undefined;
  #closed = false;

  private constructor(total: number, contexts: ContextLender) {
    this.total = total;
    this.#contexts = contexts;
  }

  /** @param total renders at a time. */
  static async launch(total: number, contexts: ContextLender): Promise<RenderSlots> {
    const slots = new RenderSlots(total, contexts);
    const cluster: Cluster<undefined, void> = await Cluster.launch({
      concurrency: slots.#concurrency(),
      maxConcurrency: total,
      timeout: NEVER_MS,
      // Required by the cluster, which would otherwise import it; unused, since the cluster launches nothing.
      puppeteer: {},
    });
    startWithoutPause(cluster);
    slots.#cluster = cluster;
    for (let i = 0; i < total; i++) void slots.#serve(cluster);
    return slots;
  }

  /** Renders that have a slot. */
  get busy(): number {
    return this.#busy;
  }

  /**
   * Runs `work` in a slot, in a context leased for it; settles when the context has been given back.
   *
   * @throws the rejection of `work` or of the lease; the error of `end` when that comes before a slot is free.
   */
  run(needs: ContextNeeds, end: CancelScope, work: RenderWork): Promise<void> {
    const render = new SlotJob(needs, end, work, this.#contexts);
    const [standBy] = this.#standingBy;
    if (standBy) {
      this.#standingBy.delete(standBy);
      this.#busy++;
      standBy(render);
    } else {
      this.#wait(render);
    }
    return render.done;
  }

  /** Ends the slots. The renders in them must have been ended before. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const standBy of this.#standingBy) standBy(undefined);
    this.#standingBy.clear();
    await this.#cluster?.close();
  }

  #wait(render: SlotJob): void {
    const leave = () => {
      if (this.#waiting.delete(render)) render.giveUp();
    };
    this.#waiting.add(render);
    if (render.end.error) leave();
    else render.end.signal.addEventListener('abort', leave, { once: true });
  }

  /** Runs one cluster job after another. */
  async #serve(cluster: Cluster<undefined, void>): Promise<void> {
    const render = async ({ page }: { readonly page: Page }) => await renderOf(page)?.render();
    // It could only fail by its timeout, which is longer than any deadline.
    while (!this.#closed) await cluster.execute(render).catch(() => undefined);
  }

  /**
   * The cluster's concurrency implementation. Nothing in it rejects, since the cluster would then repair, retry, and
   * finally lose its worker.
   */
  #concurrency(): ConcurrencyImplementationClassType {
    const jobInstance = () => this.#begin();
    return class extends concurrency.default {
      async init(): Promise<void> {}
      async close(): Promise<void> {}
      async workerInstance(): Promise<WorkerInstance> {
        return { jobInstance, close: async () => undefined, repair: async () => undefined };
      }
    };
  }

  /** Begins a cluster job, whose resource is a render with its context. */
  async #begin(): Promise<JobInstance> {
    const render = await this.#next();
    await render?.lease();
    return {
      resources: { page: asPage(render) },
      close: async () => {
        if (!render) return;
        await render.giveBack();
        this.#busy--;
        render.finish();
      },
    };
  }

  /** Waits for the next render; undefined when the slots are closed. */
  async #next(): Promise<SlotJob | undefined> {
    if (this.#closed) return undefined;
    const [render] = this.#waiting;
    if (!render) return await new Promise((resolve) => this.#standingBy.add(resolve));
    this.#waiting.delete(render);
    this.#busy++;
    return render;
  }
}

/**
 * A cluster passes only a page to a job's function, and listens for the page's errors. The renderer has pages of its
 * own, whose errors end their render; so the render itself is passed instead of a page.
 */
function asPage(render: SlotJob | undefined): Page {
  return { render, on: () => undefined } as unknown as Page;
}

function renderOf(page: Page): SlotJob | undefined {
  return (page as unknown as { readonly render: SlotJob | undefined }).render;
}

/**
 * A cluster starts at most one job per 10 ms, however many workers are free: it keeps the earliest time of the next
 * start in a field that no option sets. Here that time is always now.
 */
function startWithoutPause(cluster: Cluster): void {
  Object.defineProperty(cluster, 'nextWorkCall', { get: Date.now, set: () => undefined });
}
