import type { Clock } from '../../infra/clock.ts';
import type { PlatenError } from '../../infra/errors/registry.ts';
import { DueWork } from '../../infra/store/due-work.ts';
import type { FailedAttempt, Job } from './job.ts';
import type { JobDispatch } from './job-dispatch.ts';
import type { Ledger } from './ledger/ledger.ts';
import { positionOf, queueOf } from './priority-queues.ts';
import type { JobStore } from './store/job-store.ts';

interface RetriesDeps {
  readonly ledger: Ledger;
  readonly store: JobStore;
  readonly dispatch: JobDispatch;
  readonly clock: Clock;
}

/**
 * How a job returns from a worker to a queue:
 *
 *    1 schedule  the time of its next attempt is recorded
 *    2 move      processing → queued
 *    3 wait      its slot is free; the ledger counts it as waiting
 *    4 return    at that time it gets a position in its queue, before jobs that have never run
 *
 * After a crash before 3 the ledger still names it as the holder of a slot, and a sweep continues from there. After 3
 * it is found by the record of step 1.
 */
export class Retries {
  readonly #deps: RetriesDeps;

  constructor(deps: RetriesDeps) {
    this.#deps = deps;
  }

  /**
   * The attempt has failed, and another one follows.
   *
   * @param delayMs from now until the next attempt may begin, in milliseconds.
   * @param onlyIfLeaseEnded for a sweep that takes the job from a lost worker.
   * @param phases of the attempt, if known.
   * @returns false when the job has changed meanwhile.
   */
  async retryLater(
    claimed: Job,
    error: PlatenError,
    delayMs: number,
    onlyIfLeaseEnded = false,
    phases: FailedAttempt['phases'] = null,
  ): Promise<boolean> {
    const { transitions } = this.#deps.store;
    await this.#schedule(claimed, delayMs);
    const queued = await transitions.retryLater(claimed, error, delayMs, onlyIfLeaseEnded, phases);
    if (queued === undefined) return false;
    await this.releaseSlot(queued);
    return true;
  }

  /** The worker has to stop: the job returns as if the attempt had not begun. @returns false as for `retryLater`. */
  async giveBack(claimed: Job): Promise<boolean> {
    await this.#schedule(claimed, 0);
    const queued = await this.#deps.store.transitions.giveBack(claimed);
    if (queued === undefined) return false;
    await this.releaseSlot(queued);
    await this.returnDue();
    return true;
  }

  /** @param since only the slot that was taken at this time. @returns false when the job had no slot. */
  async releaseSlot(queued: Job, since?: number): Promise<boolean> {
    const { ledger, dispatch } = this.#deps;
    const record = await ledger.backToWaiting(queued.accountId, queued._id, since);
    if (queued.class === 'interactive')
      dispatch.report({ jobId: queued._id, kind: 'retrying', to: queued.replyTo });
    if (record !== undefined) await dispatch.serve(queued.accountId, record);
    return record !== undefined;
  }

  /** Gives positions to the jobs whose next attempt is due. @returns the number of jobs. */
  async returnDue(): Promise<number> {
    const { retries: queue, live } = this.#deps.store;
    const due = new DueWork({
      queue,
      perQuery: 1000,
      attempt: async (retry) => {
        const job = await live.find(retry._id);
        // Any other job has been changed, or will be, by its worker, the end of its lease or its owner.
        const waits = job?.state === 'queued' && job.position === undefined;
        const isReturned = waits && (await this.#enqueue(job));
        if (job?.state !== 'processing') await queue.remove(retry);
        return isReturned;
      },
    });
    return (await due.pass()).filter(Boolean).length;
  }

  async #schedule({ _id, accountId }: Job, delayMs: number): Promise<void> {
    const { store, clock } = this.#deps;
    await store.retries.schedule(_id, new Date(clock.now().getTime() + delayMs), { $set: { accountId } });
  }

  async #enqueue(job: Job): Promise<boolean> {
    const { ledger, store, dispatch } = this.#deps;
    const queue = queueOf(job.class, true);
    const number = await ledger.appendPosition(job.accountId, queue, job._id);
    const placed = await store.transitions.enqueue(job, positionOf(job.accountId, queue, number));
    if (placed !== undefined) dispatch.expect([placed]);
    const record = await ledger.confirmPositions(job.accountId, job._id);
    await dispatch.serve(job.accountId, record);
    return placed !== undefined;
  }
}
