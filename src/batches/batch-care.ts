import { endEarly } from '../jobs/end-early.ts';
import { endWaiting } from '../jobs/end-waiting.ts';
import { hasEnded, type Job } from '../jobs/job.ts';
import type { JobEnds } from '../jobs/job-ends.ts';
import type { Logger } from '../telemetry/logger.ts';
import { type Batch, chunkCount, hasFinished, itemJobId } from './batch.ts';
import { EXPANDER_MS, type ExpansionParts, expand } from './expansion.ts';

export interface BatchCareParts extends ExpansionParts {
  readonly ends: JobEnds;
  readonly logger: Logger;
  /** What follows the end of a batch; done again for a batch, it changes nothing. */
  readonly onFinished: (batch: Batch) => Promise<void>;
}

/** Batches that one sweep looks after at a time. */
const AT_ONCE = 20;
/** Moves of one job by others that a cancel follows. */
const CANCEL_TRIES = 10;

/**
 * Does what a batch needs beside its renders: its jobs are written, and when its owner has asked for its end, those that
 * no worker has begun are cancelled. Whoever is busy with a batch says so in its record; when nothing is heard of them
 * any more, a sweep goes on in their place.
 */
export class BatchCare {
  readonly #parts: BatchCareParts;
  readonly #underWay = new Set<Promise<void>>();

  constructor(parts: BatchCareParts) {
    this.#parts = parts;
  }

  /** Looks after a batch in the background; what fails is left to the sweep. */
  begin(batch: Batch): void {
    const work = this.#lookAfter(batch)
      .catch((error: unknown) => {
        this.#parts.logger.warn({ err: error, batchId: batch._id }, 'batch left to a sweep');
      })
      .finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  /** Goes on with batches whose carer is dead. @returns how many. */
  async sweep(): Promise<number> {
    const { batches, clock } = this.#parts;
    const neglected = (await batches.neglected(clock.now())).slice(0, AT_ONCE);
    for (const batch of neglected) await this.#lookAfter(batch);
    return neglected.length;
  }

  async #lookAfter(seen: Batch): Promise<void> {
    const { batches, onFinished } = this.#parts;
    let batch = await batches.take(seen, EXPANDER_MS);
    if (batch === undefined) return;
    if (batch.phase === 'expanding') {
      batch = await expand(this.#parts, batch);
      if (batch === undefined) return;
    }
    if (batch.phase === 'failed') {
      await onFinished(batch);
      await batches.rest(batch._id);
    }
    if (batch.cancelledAt !== null && !hasFinished(batch)) await this.#cancelItems(batch);
  }

  /** Those that run are left to end. */
  async #cancelItems(batch: Batch): Promise<void> {
    const { batches, store } = this.#parts;
    let mine: Batch | undefined = batch;
    // From the last: the first are about to run.
    for (let number = chunkCount(batch) - 1; number >= 0; number -= 1) {
      mine = await batches.take(mine, EXPANDER_MS);
      if (mine === undefined) return;
      const items = await batches.chunk(batch._id, number);
      const ids = items.map(({ id }, i) => itemJobId(batch, number * batch.chunkSize + i, id));
      const live = [...(await store.live.among(ids)).values()];
      const waiting = live.filter(hasWaitedSinceItsArrival);
      const others = live.filter((job) => !hasWaitedSinceItsArrival(job));
      const moved = await endWaiting(this.#parts, waiting, (jobs, leaving) =>
        store.transitions.cancelAll(jobs, leaving),
      );
      for (const job of [...moved, ...others]) await this.#cancelUnbegun(job);
    }
    await batches.rest(batch._id);
  }

  /** Follows a job that moves meanwhile, as one does that is handed a slot which another has left. */
  async #cancelUnbegun(seen: Job): Promise<void> {
    const { transitions, live } = this.#parts.store;
    let job: Job | undefined = seen;
    for (let tries = 0; tries < CANCEL_TRIES; tries += 1) {
      if (job === undefined || hasEnded(job.state) || job.state === 'processing') return;
      if ((await endEarly(this.#parts, job, (found) => transitions.cancel(found))) !== undefined) return;
      job = await live.find(job._id);
    }
  }
}

/** As nearly all do of a batch that is cancelled: they are alike but for what they render. */
function hasWaitedSinceItsArrival({ state, place, version }: Job): boolean {
  return state === 'queued' && place !== undefined && version === 1;
}
