import { WriteBehind } from '../../infra/async/write-behind.ts';
import type { Logger } from '../../infra/telemetry/logger.ts';
import { CoalescedFollowUps } from './coalesced-follow-ups.ts';
import type { Job } from './job.ts';
import type { JobDispatch } from './job-dispatch.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { JobStore } from './store/job-store.ts';

interface JobFollowUpDeps {
  readonly ledger: Ledger;
  readonly store: JobStore;
  readonly dispatch: JobDispatch;
  readonly logger: Logger;
  /** Called once for every job that ends; for counters. */
  readonly observe: (job: Job) => void;
  /** Further steps after the end of jobs, before the jobs are moved to the history. */
  readonly furtherSteps?: readonly FollowUpStep[];
}

/** A step that follows the end of jobs. Repeated for a job, it must change nothing. */
export interface FollowUpStep {
  readonly name: string;
  run(jobs: readonly Job[]): Promise<void>;
}

const GATHER_MS = 250;
const GATHER_JOBS = 100;

/**
 * The steps that follow the end of a job:
 *
 *    1 the job gives back its slot or position, and its quota if it has no PDF, and its outcome is counted for the account.
 *      From then on the ledger names it as ending. If other jobs wait, the ledger names the next one as the holder of the
 *      slot
 *    2 the processes that wait for the job are notified, and the job that got the slot is dispatched
 *    3 the outcome is counted for the batch of an item
 *    4 the job is moved to the history
 *    5 the ledger forgets the job
 *
 * Steps 1 and 2 are done at once or nearly so, the others a moment later for several jobs together. After a crash
 * between two steps, a sweep finds the job by its name in the ledger, and continues with the next step.
 */
export class JobFollowUp {
  readonly #deps: JobFollowUpDeps;
  readonly #coalesced = new CoalescedFollowUps(async (jobs) => {
    await this.follow(jobs);
  });
  readonly #gathered: WriteBehind<Job>;
  readonly #finishLater = async (jobs: readonly Job[]): Promise<void> => {
    for (const job of jobs) this.#gathered.add(job);
  };
  /** In this order. A step for the end of every job, whatever its outcome, is added here. */
  readonly #steps: readonly FollowUpStep[];

  constructor(deps: JobFollowUpDeps) {
    const { ledger, store, logger } = deps;
    this.#deps = deps;
    this.#steps = [
      ...(deps.furtherSteps ?? []),
      {
        name: 'move it to the history',
        // A job that ended at its position stays there until the head reaches it: see JobDispatch.clearPositions.
        run: (jobs) => store.history.take(jobs.filter(({ position }) => position === undefined)),
      },
      {
        name: 'forget it',
        async run(jobs) {
          for (const [accountId, ended] of Map.groupBy(jobs, (job) => job.accountId)) {
            await ledger.forgetEnded(
              accountId,
              ended.map(({ _id }) => _id),
            );
          }
        },
      },
    ];
    this.#gathered = new WriteBehind((jobs) => this.finish(jobs), logger, {
      delayMs: GATHER_MS,
      flushAt: GATHER_JOBS,
    });
  }

  /**
   * Follows up jobs of one account that have just ended, in this process or in one that died: all at their positions,
   * or all while they held slots.
   *
   * @param finish the steps from 3 on; by default they are done a moment later, for more jobs together.
   * @returns whether there was something to do.
   */
  async follow(jobs: readonly Job[], finish = this.#finishLater): Promise<boolean> {
    const { dispatch } = this.#deps;
    const freed = await dispatch.free(jobs);
    if (freed !== undefined) {
      for (const job of jobs) this.#report(job);
      await finish(jobs);
      await dispatch.goOn(freed);
      return true;
    }
    const [job] = jobs as [Job];
    if (jobs.length === 1) return this.#finishUnnamed(job);
    // One of the jobs was followed up before.
    for (const each of jobs) await this.follow([each]);
    return true;
  }

  /**
   * The same for a job that has just ended in this process. Steps 1 and 2 may wait for the ends of other jobs as well,
   * where that delays no worker (coalesced-follow-ups.ts).
   */
  followSoon(job: Job): Promise<void> {
    return this.#coalesced.add(job);
  }

  /** Like `follow`, but resolves after all steps: a caller that ends thousands of jobs cannot run ahead. */
  async followWhole(jobs: readonly Job[]): Promise<void> {
    await this.follow(jobs, (ended) => this.finish(ended));
  }

  /** The steps from 3 on, for jobs that have given back what they held. */
  async finish(jobs: readonly Job[]): Promise<void> {
    for (const step of this.#steps) await step.run(jobs);
  }

  #report(job: Job): void {
    const { dispatch, observe } = this.#deps;
    observe(job);
    // Callers wait for interactive jobs alone.
    if (job.class === 'interactive')
      dispatch.report({ jobId: job._id, kind: 'ended', to: job.replyTo, record: job });
    if (job.state === 'cancelled') dispatch.report({ jobId: job._id, kind: 'cancelled' });
  }

  /**
   * The ledger does not name the job as a holder. Usually another process is following its end up, or has done so: then
   * the job is named as ending, or is not live any more. In any other case no sweep would find the job, so it is
   * finished here.
   */
  async #finishUnnamed(job: Job): Promise<boolean> {
    const { ledger, store } = this.#deps;
    if (job.position !== undefined || (await ledger.find(job.accountId))?.ending?.[job._id] !== undefined)
      return false;
    if ((await store.live.find(job._id)) === undefined) return false;
    await ledger.leaveUnheld(job);
    this.#gathered.add(job);
    return true;
  }

  /** Resolves when the steps of all gathered jobs are done, or have failed and are left to a sweep. */
  async flush(): Promise<void> {
    await this.#coalesced.flush();
    await this.#gathered.flush();
  }
}
