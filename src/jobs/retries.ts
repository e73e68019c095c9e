import type { Clock } from '../clock.ts';
import type { PlatenError } from '../errors/registry.ts';
import type { FailedAttempt, Job } from './job.ts';
import type { JobDispatch } from './job-dispatch.ts';
import type { Ledger } from './ledger/ledger.ts';
import { positionOf, queueOf } from './priority-queues.ts';
import type { JobStore } from './store/job-store.ts';

export interface RetriesDeps {
  readonly ledger: Ledger;
  readonly store: JobStore;
  readonly dispatch: JobDispatch;
  readonly clock: Clock;
}

/**
 * The way of a job from a worker back into a queue:
 *
 *    1 schedule  its next attempt is noted
 *    2 move      processing → queued
 *    3 wait      its slot is free; the ledger counts it as waiting
 *    4 return    when its time has come it gets a position in its queue, before jobs that have never run
 *
 * After a crash before 3 the ledger still names it as the holder of a slot, and a sweep goes on from there; after that it
 * is found by what was noted in 1.
 */
export class Retries {
  readonly #deps: RetriesDeps;

  constructor(deps: RetriesDeps) {
    this.#deps = deps;
  }

  /**
   * The attempt has failed, and another follows.
   *
   * @param delayMs from now until it may begin, in milliseconds.
   * @param onlyIfLeaseEnded for a sweep that takes the job from a worker that is lost.
   * @param phases of the attempt, where its time is known.
   * @returns false when the job had moved on already.
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

  /** The worker has to stop: the job goes back as if the attempt had not begun. @returns false as of `retryLater`. */
  async giveBack(claimed: Job): Promise<boolean> {
    await this.#schedule(claimed, 0);
    const queued = await this.#deps.store.transitions.giveBack(claimed);
    if (queued === undefined) return false;
    await this.releaseSlot(queued);
    await this.returnDue();
    return true;
  }

  /**
   * A job that has been queued again gives its slot back.
   *
   * @param since only the slot that was taken then.
   * @returns false when it had none.
   */
  async releaseSlot(queued: Job, since?: number): Promise<boolean> {
    const { ledger, dispatch } = this.#deps;
    const record = await ledger.backToWaiting(queued.accountId, queued._id, since);
    dispatch.report({ jobId: queued._id, kind: 'retrying' });
    if (record !== undefined) await dispatch.serve(queued.accountId, record);
    return record !== undefined;
  }

  /** Gives positions to the jobs whose time has come. @returns how many. */
  async returnDue(limit = 1000): Promise<number> {
    const { store } = this.#deps;
    let returned = 0;
    for (const seen of await store.retries.due(limit)) {
      const retry = await store.retries.claim(seen);
      if (retry === undefined) continue;
      const job = await store.live.find(retry._id);
      // Any other job has been moved on, or will be: by its worker, its lease or its owner.
      const waits = job?.state === 'queued' && job.place === undefined;
      if (waits && (await this.#enqueue(job))) returned += 1;
      if (job?.state !== 'processing') await store.retries.remove(retry);
    }
    return returned;
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
    const record = await ledger.confirmArrival(job.accountId, job._id);
    await dispatch.serve(job.accountId, record);
    return placed !== undefined;
  }
}
