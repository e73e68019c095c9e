import { WriteBehind } from '../async/write-behind.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { JobOutcome, UsageCounters } from '../usage/usage-counters.ts';
import { EndsTogether } from './ends-together.ts';
import type { Job } from './job.ts';
import type { JobDispatch } from './job-dispatch.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { JobStore } from './store/job-store.ts';

export interface JobEndsDeps {
  readonly ledger: Ledger;
  readonly store: JobStore;
  readonly dispatch: JobDispatch;
  readonly usage: UsageCounters;
  readonly logger: Logger;
  /** Called with every job that ends, once; for counters. */
  readonly observe: (job: Job) => void;
  /** What else follows an end, before the job is moved to the history. */
  readonly furtherSteps?: readonly JobEndStep[];
}

/** One thing that follows the end of jobs. Done again for a job it was done for, it changes nothing. */
export interface JobEndStep {
  readonly name: string;
  run(jobs: readonly Job[]): Promise<void>;
}

const GATHER_MS = 250;
const GATHER_JOBS = 100;

/**
 * What follows when a job has ended:
 *
 *    1 it gives back its slot or position, and its quota if it has no PDF; from then on the ledger names it as ending, and
 *      where others wait, the next of them as the holder of the slot
 *    2 the processes that wait for it are notified, and the job that got the slot is dispatched
 *    3 its outcome is counted, for its account and, of an item, in its batch
 *    4 it is moved to the history
 *    5 the ledger forgets it
 *
 * 1 and 2 are done at once or nearly so, the rest for some jobs together a moment later. A sweep that finds a job which has
 * ended by its name in the ledger goes the same way from where that says it stands, so a crash between any two steps loses
 * none.
 */
export class JobEnds {
  readonly #deps: JobEndsDeps;
  readonly #together = new EndsTogether(async (jobs) => {
    await this.follow(jobs);
  });
  readonly #gathered: WriteBehind<Job>;
  readonly #finishLater = async (jobs: readonly Job[]): Promise<void> => {
    for (const job of jobs) this.#gathered.add(job);
  };
  /** In order. What is to follow the end of every job, whatever it came to, is added here. */
  readonly #steps: readonly JobEndStep[];

  constructor(deps: JobEndsDeps) {
    const { ledger, store, usage, logger } = deps;
    this.#deps = deps;
    this.#steps = [
      { name: 'count its outcome', run: (jobs) => usage.countEnds(jobs.map(usageOf)) },
      ...(deps.furtherSteps ?? []),
      {
        name: 'move it to the history',
        // One that ended at its position stays until the head reaches it: see JobDispatch.clearPositions.
        run: (jobs) => store.history.take(jobs.filter(({ place }) => place === undefined)),
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
          usage.forgetEnds(jobs.map(usageOf));
        },
      },
    ];
    this.#gathered = new WriteBehind((jobs) => this.finish(jobs), logger, {
      delayMs: GATHER_MS,
      flushAt: GATHER_JOBS,
    });
  }

  /**
   * Follows up jobs of one account that have just ended, here or in a process that died: all at their positions, or all
   * while they held slots.
   *
   * @param finish the steps from 3 on: by default a moment later, for more jobs together.
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
    // One of them was followed up before.
    for (const each of jobs) await this.follow([each]);
    return true;
  }

  /**
   * The same for a job that has ended in this process a moment ago. 1 and 2 may wait for others as well, where that keeps
   * no worker from its next job (ends-together.ts).
   */
  followSoon(job: Job): Promise<void> {
    return this.#together.add(job);
  }

  /** `follow` that resolves when all that follows is done, so that a caller that ends thousands goes no faster than that. */
  async followWhole(jobs: readonly Job[]): Promise<void> {
    await this.follow(jobs, (ended) => this.finish(ended));
  }

  /** The steps that jobs which have left the ledger still need. */
  async finish(jobs: readonly Job[]): Promise<void> {
    for (const step of this.#steps) await step.run(jobs);
  }

  #report(job: Job): void {
    const { dispatch, observe } = this.#deps;
    observe(job);
    dispatch.report({ jobId: job._id, kind: 'ended', record: job });
    if (job.state === 'cancelled') dispatch.report({ jobId: job._id, kind: 'cancelled' });
  }

  /**
   * The ledger does not name the job as holding anything. Mostly another process follows its end up, or has: it is
   * named as ending then, or not live any more. If neither is so, no sweep would ever find it.
   */
  async #finishUnnamed(job: Job): Promise<boolean> {
    const { ledger, store } = this.#deps;
    if (job.place !== undefined || (await ledger.find(job.accountId))?.ending?.[job._id] !== undefined)
      return false;
    if ((await store.live.find(job._id)) === undefined) return false;
    this.#gathered.add(job);
    return true;
  }

  /** Resolves when what was gathered is done, or has failed and is left to a sweep. */
  async flush(): Promise<void> {
    await this.#together.flush();
    await this.#gathered.flush();
  }
}

function usageOf(job: Job): JobOutcome {
  return {
    jobId: job._id,
    accountId: job.accountId,
    apiKeyId: job.apiKeyId,
    at: job.completedAt ?? job.updatedAt,
    errorCode: job.error?.code,
    ...(job.output !== null && {
      rendered: {
        pages: job.output.pages,
        bytes: job.output.size,
        ms: job.processingTimeMs,
        phases: job.output.report?.phases,
      },
    }),
  };
}
