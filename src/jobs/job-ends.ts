import { WriteBehind } from '../async/write-behind.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { JobOutcome, UsageCounters } from '../usage/usage-counters.ts';
import { EndsTogether } from './ends-together.ts';
import type { FreedSlots, HandOver } from './hand-over.ts';
import type { Job } from './job.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { JobStore } from './store/job-store.ts';

export interface JobEndsParts {
  readonly ledger: Ledger;
  readonly store: JobStore;
  readonly handOver: HandOver;
  readonly usage: UsageCounters;
  readonly logger: Logger;
  /** Told of every job that ends, once; for counters. */
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
 *    1 it gives back its slot or place, and its quota if it has no PDF; from then on the ledger names it as ending, and
 *      where others wait, the next of them as the holder of the slot
 *    2 whoever waits for it is told, and who got the slot is dispatched
 *    3 its outcome is counted, for its account and, of an item, in its batch
 *    4 it is moved to the history
 *    5 the ledger forgets it
 *
 * 1 and 2 are done at once or nearly so, the rest for some jobs together a moment later. A sweep that finds a job which has ended by
 * its name in the ledger goes the same way from where that says it stands, so a crash between any two steps loses none.
 */
export class JobEnds {
  readonly #parts: JobEndsParts;
  readonly #together = new EndsTogether((jobs) => this.#followAll(jobs));
  readonly #gathered: WriteBehind<Job>;
  /** In order. What is to follow the end of every job, whatever it came to, is added here. */
  readonly #steps: readonly JobEndStep[];

  constructor(parts: JobEndsParts) {
    const { ledger, store, usage, logger } = parts;
    this.#parts = parts;
    this.#steps = [
      { name: 'count its outcome', run: (jobs) => usage.countEnds(jobs.map(usageOf)) },
      ...(parts.furtherSteps ?? []),
      {
        name: 'move it to the history',
        // One that ended at its place in a lane stays until its turn: see HandOver.clearPlaces.
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

  /** Follows up a job that has just ended, here or in a process that died. @returns whether there was something to do. */
  async follow(job: Job): Promise<boolean> {
    const { handOver } = this.#parts;
    const freed = await handOver.free(job);
    if (freed === undefined) return this.#finishUnnamed(job);
    await this.#goOn([job], freed);
    return true;
  }

  /**
   * The same for a job that has ended in this process a moment ago. 1 and 2 may wait for others as well, where that keeps
   * no worker from its next job (ends-together.ts).
   */
  followSoon(job: Job): Promise<void> {
    return this.#together.add(job);
  }

  /**
   * `follow` for jobs of one account that have just ended at their places. Resolves when all that follows is done, so that
   * who ends thousands goes no faster than that.
   */
  async followWaiting(jobs: readonly Job[]): Promise<void> {
    const { handOver } = this.#parts;
    const freed = await handOver.freePlaces(jobs);
    if (freed === undefined) {
      for (const job of jobs) await this.follow(job);
      return;
    }
    for (const job of jobs) this.#tell(job);
    await this.finish(jobs);
    await handOver.goOn(freed);
  }

  /** The steps that jobs which have left the ledger still need. */
  async finish(jobs: readonly Job[]): Promise<void> {
    for (const step of this.#steps) await step.run(jobs);
  }

  async #followAll(jobs: readonly Job[]): Promise<void> {
    const freed = jobs.length > 1 ? await this.#parts.handOver.freeAll(jobs) : undefined;
    if (freed !== undefined) await this.#goOn(jobs, freed);
    else for (const job of jobs) await this.follow(job);
  }

  /** Once they have given back what they held. */
  async #goOn(jobs: readonly Job[], freed: FreedSlots): Promise<void> {
    for (const job of jobs) {
      this.#tell(job);
      this.#gathered.add(job);
    }
    await this.#parts.handOver.goOn(freed);
  }

  #tell(job: Job): void {
    const { handOver, observe } = this.#parts;
    observe(job);
    handOver.tell({ jobId: job._id, kind: 'ended', record: job });
    if (job.state === 'cancelled') handOver.tell({ jobId: job._id, kind: 'cancelled' });
  }

  /**
   * The ledger does not name the job as holding anything. Mostly somebody else is at it, or has been: it is named as
   * ending then, or not live any more. If neither is so, nobody would ever look for it.
   */
  async #finishUnnamed(job: Job): Promise<boolean> {
    const { ledger, store } = this.#parts;
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
  };
}
