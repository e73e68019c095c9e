import { endEarly } from '../jobs/end-early.ts';
import { hasEnded, type Job } from '../jobs/job.ts';
import { type Batch, chunkCount, hasFinished, itemJobId } from './batch.ts';
import type { BatchCore } from './batch-core.ts';
import { EXPANDER_MS, expand } from './expansion.ts';

interface ReconcilerCore extends BatchCore {
  /** Runs when a batch has ended. Repeated for a batch, it must change nothing. */
  readonly onFinished: (batch: Batch) => Promise<void>;
}

/** Batches that one sweep reconciles. */
const AT_ONCE = 20;
/** How many concurrent changes of one job a cancellation follows. */
const CANCEL_TRIES = 10;

/**
 * Does the work of a batch besides its renders: writes its jobs and, when its owner has cancelled it, cancels the jobs
 * that no worker has begun. A process reconciles a batch under a lease in the batch's record. When the lease has ended,
 * a sweep continues.
 */
export class BatchReconciler {
  readonly #deps: ReconcilerCore;
  readonly #underWay = new Set<Promise<void>>();

  constructor(deps: ReconcilerCore) {
    this.#deps = deps;
  }

  /** Reconciles a batch in the background; after a failure a sweep continues. */
  begin(batch: Batch): void {
    const work = this.#reconcile(batch)
      .catch((error: unknown) => {
        this.#deps.logger.warn({ err: error, batchId: batch._id }, 'batch left to a sweep');
      })
      .finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
  }

  /** Resolves when no batch is being reconciled any more. */
  async idle(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  /** Continues the batches of dead processes. @returns the number of batches. */
  async sweep(): Promise<number> {
    const { batches } = this.#deps;
    const neglected = (await batches.neglected()).slice(0, AT_ONCE);
    for (const batch of neglected) await this.#reconcile(batch);
    return neglected.length;
  }

  async #reconcile(seen: Batch): Promise<void> {
    const { batches, onFinished } = this.#deps;
    let batch = await batches.take(seen, EXPANDER_MS);
    if (batch === undefined) return;
    if (batch.phase === 'expanding') {
      batch = await expand(this.#deps, batch);
      if (batch === undefined) return;
    }
    if (batch.phase === 'failed') {
      await onFinished(batch);
      await batches.rest(batch._id);
    }
    if (batch.cancelledAt !== null && !hasFinished(batch)) await this.#cancelItems(batch);
  }

  /** Does not stop running jobs. */
  async #cancelItems(batch: Batch): Promise<void> {
    const { batches, store } = this.#deps;
    let mine: Batch | undefined = batch;
    // Last chunk first, because the first jobs are about to run.
    for (let number = chunkCount(batch) - 1; number >= 0; number -= 1) {
      mine = await batches.take(mine, EXPANDER_MS);
      if (mine === undefined) return;
      const items = await batches.chunk(batch._id, number);
      const ids = items.map(({ id }, i) => itemJobId(batch, number * batch.chunkSize + i, id));
      const live = [...(await store.live.among(ids)).values()];
      const ended = await endEarly(this.#deps, live.filter(hasWaitedSinceAdmission), { whole: true });
      const done = new Set(ended.map(({ _id }) => _id));
      for (const job of live) if (!done.has(job._id)) await this.#cancelUnbegun(job);
    }
    await batches.rest(batch._id);
  }

  /** Tries again when the job changes meanwhile, for example when it gets a slot that another job has given back. */
  async #cancelUnbegun(seen: Job): Promise<void> {
    let job: Job | undefined = seen;
    for (let tries = 0; tries < CANCEL_TRIES; tries += 1) {
      if (job === undefined || hasEnded(job.state) || job.state === 'processing') return;
      if ((await endEarly(this.#deps, [job])).length > 0) return;
      job = await this.#deps.store.live.find(job._id);
    }
  }
}

/** True of nearly all jobs of a cancelled batch: such jobs differ only in their documents. */
function hasWaitedSinceAdmission({ state, position, version }: Job): boolean {
  return state === 'queued' && position !== undefined && version === 1;
}
