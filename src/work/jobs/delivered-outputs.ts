import { WriteBehind } from '../../infra/async/write-behind.ts';
import type { Core } from '../../infra/core.ts';
import { type Job, keptOutput } from './job.ts';
import type { Jobs } from './open-jobs.ts';

/** A job moves to the history some 250 ms after its end, where its record can be changed. */
const MARKED_AFTER_MS = 1000;

interface DeliveredOutputsDeps extends Pick<Core, 'outputs' | 'logger'>, Pick<Jobs, 'store' | 'stored'> {}

/**
 * Deletes the PDFs of jobs that keep nothing, once they have been delivered, and notes that in their records a moment
 * later. A PDF that is not deleted here, because the process died or the store could not be reached, is deleted with the
 * hour in its key.
 */
export class DeliveredOutputs {
  readonly #deps: DeliveredOutputsDeps;
  readonly #marks: WriteBehind<Job>;

  constructor(deps: DeliveredOutputsDeps) {
    this.#deps = deps;
    this.#marks = new WriteBehind((jobs) => this.#mark(jobs), deps.logger, { delayMs: MARKED_AFTER_MS });
  }

  /** To be called when somebody has received the PDF. Does nothing for a job whose PDF is kept; never fails. */
  async delete(job: Job): Promise<void> {
    const output = keptOutput(job);
    if (!job.keepsNothing || output === null) return;
    try {
      await this.#deps.outputs.delete(output.key);
      this.#marks.add(job);
    } catch (error) {
      this.#deps.logger.warn({ err: error, jobId: job._id }, 'a PDF that was delivered is deleted later');
    }
  }

  /** Resolves when the deletions so far are noted, or have failed to be. */
  flush(): Promise<void> {
    return this.#marks.flush();
  }

  async #mark(jobs: readonly Job[]): Promise<void> {
    const { store, stored } = this.#deps;
    for (const job of jobs) {
      const { size } = job.output!;
      if (await store.history.noteDeleted(job._id, size)) await stored.giveBack(job.accountId, size);
      else if ((await store.live.find(job._id)) !== undefined) this.#marks.add(job);
    }
  }
}
