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

/** The head of a queue, and the job at that position; undefined when no job is there. */
interface Head {
  readonly queue: QueueName;
  readonly number: number;
  readonly job: Job | undefined;
  /** Ended jobs at this position and directly behind it; empty when a job waits at the head, or is missing. */
  readonly ended: readonly Job[];
}

/** Positions of a queue that are read together. */
const READ_AHEAD = 16;
/** Positions that are passed over together, when the jobs at all READ_AHEAD positions have ended. */
const PASSED_TOGETHER = 200;
/** Remembered jobs, about 1 kB each. */
const REMEMBERED_JOBS = 1000;

/**
 * Finds the next job. Jobs at the next few positions are read together and remembered, and so are jobs that this
 * process has put at their positions. A job that waits at its position can only end there. So a remembered job is valid
 * until the head reaches it; if it has ended, its dispatch detects that.
 */
export class QueueHeads {
  readonly #live: LiveJobs;
  readonly #atPositions = new LRUCache<string, Job>({ max: REMEMBERED_JOBS });

  constructor(live: LiveJobs) {
    this.#live = live;
  }

  /** Remembers jobs that have just been put at their positions, given in this order. */
  expect(placed: readonly Job[]): void {
    for (const job of placed.slice(0, READ_AHEAD)) {
      if (job.position !== undefined) this.#atPositions.set(job.position, job);
    }
  }

  /**
   * The first queue with a job at its head. An empty position may belong to a job that is being admitted: its admission
   * gives out slots afterwards, so continuing with the next queue misses nothing. While no admission is pending, an
   * empty position stays empty. (If an admission is always pending, sweeps/waiting-jobs.ts passes over the position.)
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

  /** The job of `next` and remembered ones behind it, up to a gap. @param count the most, with the head. */
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
    for (const job of found)
      if (!hasEnded(job.state) && job.position) this.#atPositions.set(job.position, job);
    const job = found.find((other) => other.position === position);
    const ended = endedFirst(positions, found);
    if (ended.length < READ_AHEAD) return { job, ended };
    const more = firstPositions(accountId, queue, state, PASSED_TOGETHER);
    return { job, ended: endedFirst(more, await this.#live.atPositions(more)) };
  }
}

/** The ended jobs at the first of these positions, up to the first position without one. */
function endedFirst(positions: readonly string[], found: readonly Job[]): Job[] {
  return atFirst(
    positions,
    found.filter(({ state }) => hasEnded(state)),
  );
}
