import { LRUCache } from 'lru-cache';
import { hasEnded, type Job } from './job.ts';
import { atFirst, firstPlaces, LANES, type Lane, type LaneState, placeOf } from './lanes.ts';
import { laneState, nobodyArrives, type SeenLedger } from './ledger/ledger-record.ts';
import type { LiveJobs } from './store/live-jobs.ts';

/** Who is at the head of a lane: nobody, where the one whose place it was has ended or was never written. */
export interface Head {
  readonly lane: Lane;
  readonly number: number;
  readonly job: Job | undefined;
  /** Who have ended at this place and at those right behind it; nobody where somebody waits or is missing at the head. */
  readonly ended: readonly Job[];
}

/** Places of a lane that are looked up together. */
const READ_AHEAD = 16;
/** Places that are passed over together, when everybody has ended at those which are looked up first. */
const PASSED_TOGETHER = 200;
/** Jobs that are remembered, about a kilobyte each. */
const REMEMBERED_JOBS = 1000;

/**
 * Finds who is next. Jobs at the next few places are looked up together and remembered, as are those that this process
 * has put at their places. While a job is at its place it can only end there; so what is remembered of it holds until
 * its turn, or its dispatch finds out.
 */
export class LaneHeads {
  readonly #live: LiveJobs;
  readonly #atPlaces = new LRUCache<string, Job>({ max: REMEMBERED_JOBS });

  constructor(live: LiveJobs) {
    this.#live = live;
  }

  /** Jobs have just been put at their places, in this order. */
  expect(placed: readonly Job[]): void {
    for (const job of placed.slice(0, READ_AHEAD)) {
      if (job.place !== undefined) this.#atPlaces.set(job.place, job);
    }
  }

  /**
   * The first lane with somebody at its head. A place that looks empty may belong to a job that is being let in just now:
   * who lets it in hands out slots afterwards, so nothing is missed by going on to the next lane. When nobody is on the
   * way, nobody is coming to it. (When somebody always is, sweeps/waiting-jobs.ts finds out.)
   */
  async next(ledger: SeenLedger): Promise<Head | undefined> {
    for (const lane of LANES) {
      const state = laneState(ledger, lane);
      if (state.head >= state.tail) continue;
      const { job, ended } = await this.#at(ledger._id, lane, state);
      if (job !== undefined || nobodyArrives(ledger)) return { lane, number: state.head, job, ended };
    }
    return undefined;
  }

  /**
   * Who is next after one that `next` has found, and would be at the head one after the other: up to where somebody has
   * ended or has not been seen yet.
   *
   * @param count with the head itself.
   */
  behind({ lane, number, job }: Head, accountId: string, count: number): Job[] {
    const jobs: Job[] = [];
    for (let next = job; next !== undefined && !hasEnded(next.state) && jobs.length < count; ) {
      jobs.push(next);
      next = this.#atPlaces.get(placeOf(accountId, lane, number + jobs.length));
    }
    return jobs;
  }

  async #at(accountId: string, lane: Lane, state: LaneState): Promise<Pick<Head, 'job' | 'ended'>> {
    const places = firstPlaces(accountId, lane, state, READ_AHEAD);
    const place = places[0]!;
    const known = this.#atPlaces.get(place);
    if (known !== undefined) return { job: known, ended: [] };
    const found = await this.#live.atPlaces(places);
    for (const job of found) if (!hasEnded(job.state) && job.place) this.#atPlaces.set(job.place, job);
    const job = found.find((other) => other.place === place);
    const ended = endedFirst(places, found);
    if (ended.length < READ_AHEAD) return { job, ended };
    const more = firstPlaces(accountId, lane, state, PASSED_TOGETHER);
    return { job, ended: endedFirst(more, await this.#live.atPlaces(more)) };
  }
}

/** Who have ended at the first of these places, up to where somebody has not. */
function endedFirst(places: readonly string[], found: readonly Job[]): Job[] {
  return atFirst(
    places,
    found.filter(({ state }) => hasEnded(state)),
  );
}
