import type { Clock } from '../clock.ts';
import type { PlatenError } from '../errors/registry.ts';
import type { HandOver } from './hand-over.ts';
import type { Job } from './job.ts';
import { laneOf, placeOf } from './lanes.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { JobStore } from './store/job-store.ts';

export interface RetriesParts {
  readonly ledger: Ledger;
  readonly store: JobStore;
  readonly handOver: HandOver;
  readonly clock: Clock;
}

/** Time for a job whose time has come to get its place; after that another process tries. */
const TAKEN_ON_MS = 10_000;

/**
 * The way of a job from a worker back into a lane:
 *
 *    1 schedule  its next attempt is noted
 *    2 move      processing → queued
 *    3 wait      its slot is free; the ledger counts it as waiting
 *    4 return    when its time has come it gets a place in its lane, before those that have never run
 *
 * After a crash before 3 the ledger still names it as the holder of a slot, and a sweep goes on from there; after that it
 * is found by what was noted in 1.
 */
export class Retries {
  readonly #parts: RetriesParts;

  constructor(parts: RetriesParts) {
    this.#parts = parts;
  }

  /**
   * The attempt has failed, and another follows.
   *
   * @param delayMs from now until it may begin, in milliseconds.
   * @param onlyIfLeaseEnded for who takes the job from a worker that is lost.
   * @returns false when the job had moved on already.
   */
  async retryLater(
    claimed: Job,
    error: PlatenError,
    delayMs: number,
    onlyIfLeaseEnded = false,
  ): Promise<boolean> {
    const { transitions } = this.#parts.store;
    await this.#schedule(claimed, delayMs);
    const queued = await transitions.retryLater(claimed, error, delayMs, onlyIfLeaseEnded);
    if (queued === undefined) return false;
    await this.releaseSlot(queued);
    return true;
  }

  /** The worker has to stop: the job goes back as if the attempt had not begun. @returns false as of `retryLater`. */
  async giveBack(claimed: Job): Promise<boolean> {
    await this.#schedule(claimed, 0);
    const queued = await this.#parts.store.transitions.giveBack(claimed);
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
    const { ledger, handOver } = this.#parts;
    const record = await ledger.backToWaiting(queued.accountId, queued._id, since);
    handOver.tell({ jobId: queued._id, kind: 'retrying' });
    if (record !== undefined) await handOver.serve(queued.accountId, record);
    return record !== undefined;
  }

  /** Gives places to those whose time has come. @returns how many. */
  async returnDue(limit = 1000): Promise<number> {
    const { store, clock } = this.#parts;
    const now = clock.now();
    let returned = 0;
    for (const retry of await store.retries.due(now, limit)) {
      const mine = await store.retries.takeOn(retry, new Date(now.getTime() + TAKEN_ON_MS));
      if (!mine) continue;
      const job = await store.live.find(retry._id);
      // Anything else has been moved on by somebody, or will be: by its worker, its lease or its owner.
      const waits = job?.state === 'queued' && job.place === undefined;
      if (waits && (await this.#giveAPlace(job))) returned += 1;
      if (job?.state !== 'processing') await store.retries.remove(retry._id);
    }
    return returned;
  }

  async #schedule({ _id, accountId }: Job, delayMs: number): Promise<void> {
    const { store, clock } = this.#parts;
    await store.retries.schedule(_id, accountId, new Date(clock.now().getTime() + delayMs));
  }

  async #giveAPlace(job: Job): Promise<boolean> {
    const { ledger, store, handOver } = this.#parts;
    const lane = laneOf(job.class, true);
    const number = await ledger.appendPlace(job.accountId, lane, job._id);
    const placed = await store.transitions.giveAPlace(job, placeOf(job.accountId, lane, number));
    if (placed !== undefined) handOver.expect([placed]);
    const record = await ledger.confirmArrival(job.accountId, job._id);
    await handOver.serve(job.accountId, record);
    return placed !== undefined;
  }
}
