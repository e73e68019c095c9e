import { LRUCache } from 'lru-cache';
import { hasEnded, type Job } from './job.ts';
import { noneIsPending, queueState, type SeenLedger } from './ledger/ledger-record.ts';
import {
  atFirst,
  firstPositions,
  PRIORITY_QUEUES,
  positionOf,
  type QueueName,
  type QueueState,
} from './priority-queues.ts';
import type { LiveJobs } from './store/live-jobs.ts';

/** The head of a queue, and the job at it: none, where that job has ended or was never written. */
export interface Head {
  readonly queue: QueueName;
  readonly number: number;
  readonly job: Job | undefined;
  /** The jobs that have ended at this position and right behind it; none where a job waits, or is missing, at the head. */
  readonly ended: readonly Job[];
}

/** Positions of a queue that are looked up together. */
const READ_AHEAD = 16;
/** Positions that are passed over together, when the jobs at all those that are looked up first have ended. */
const PASSED_TOGETHER = 200;
/** Jobs that are remembered, about a kilobyte each. */
const REMEMBERED_JOBS = 1000;

/**
 * Finds the next job. Jobs at the next few positions are looked up together and remembered, as are jobs that this process
 * has put at their positions. A job that waits at its position can only end there; so what is remembered of it holds until
 * the head reaches it, or its dispatch finds out.
 */
export class QueueHeads {
  readonly #live: LiveJobs;
  readonly #atPositions = new LRUCache<string, Job>({ max: REMEMBERED_JOBS });

  constructor(live: LiveJobs) {
    this.#live = live;
  }

  /** Jobs have just been put at their positions, in this order. */
  expect(placed: readonly Job[]): void {
    for (const job of placed.slice(0, READ_AHEAD)) {
      if (job.place !== undefined) this.#atPositions.set(job.place, job);
    }
  }

  /**
   * The first queue with a job at its head. A position that looks empty may belong to a job that is being admitted just now:
   * its admission gives out slots afterwards, so nothing is missed by going on to the next queue. When no admission is
   * pending, the position stays empty. (When one always is, sweeps/waiting-jobs.ts finds out.)
   */
  async next(ledger: SeenLedger): Promise<Head | undefined> {
    for (const queue of PRIORITY_QUEUES) {
      const state = queueState(ledger, queue);
      if (state.head >= state.tail) continue;
      const { job, ended } = await this.#at(ledger._id, queue, state);
      if (job !== undefined || noneIsPending(ledger)) return { queue, number: state.head, job, ended };
    }
    return undefined;
  }

  /**
   * The job that `next` has found, and the jobs behind it that would be at the head after it: up to one that has ended or
   * has not been seen yet.
   *
   * @param count with the head itself.
   */
  behind({ queue, number, job }: Head, accountId: string, count: number): Job[] {
    const jobs: Job[] = [];
    for (let next = job; next !== undefined && !hasEnded(next.state) && jobs.length < count; ) {
      jobs.push(next);
      next = this.#atPositions.get(positionOf(accountId, queue, number + jobs.length));
    }
    return jobs;
  }

  async #at(accountId: string, queue: QueueName, state: QueueState): Promise<Pick<Head, 'job' | 'ended'>> {
    const positions = firstPositions(accountId, queue, state, READ_AHEAD);
    const position = positions[0]!;
    const known = this.#atPositions.get(position);
    if (known !== undefined) return { job: known, ended: [] };
    const found = await this.#live.atPositions(positions);
    for (const job of found) if (!hasEnded(job.state) && job.place) this.#atPositions.set(job.place, job);
    const job = found.find((other) => other.place === position);
    const ended = endedFirst(positions, found);
    if (ended.length < READ_AHEAD) return { job, ended };
    const more = firstPositions(accountId, queue, state, PASSED_TOGETHER);
    return { job, ended: endedFirst(more, await this.#live.atPositions(more)) };
  }
}

/** The jobs that have ended at the first of these positions, up to the first where none has. */
function endedFirst(positions: readonly string[], found: readonly Job[]): Job[] {
  return atFirst(
    positions,
    found.filter(({ state }) => hasEnded(state)),
  );
}
