import type { Clock } from '../../clock.ts';
import { PlatenError } from '../../errors/registry.ts';
import type { NamedPlan } from '../../plans/plan.ts';
import { endWaiting } from '../end-waiting.ts';
import type { HandOver } from '../hand-over.ts';
import { hasEnded, type Job } from '../job.ts';
import type { JobEnds } from '../job-ends.ts';
import { atFirst, firstPlaces, LANES, type Lane, type LaneState } from '../lanes.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { isAtRest, type LedgerRecord, laneState, lanesAreEmpty } from '../ledger/ledger-record.ts';
import type { JobStore } from '../store/job-store.ts';

export interface WaitingJobsParts {
  readonly ledger: Ledger;
  readonly store: JobStore;
  readonly handOver: HandOver;
  readonly ends: JobEnds;
  readonly clock: Clock;
  readonly planOf: (accountId: string) => Promise<NamedPlan>;
}

const HOUR_MS = 3_600_000;
/** Jobs of one lane that are ended in one run, and those of them that are ended together. */
const EXPIRED_AT_ONCE = 1000;
const ENDED_TOGETHER = 100;
/** Places of one lane that nobody comes to and that are passed over in one run, and those that are looked at together. */
const PASSED_AT_ONCE = 1000;
const LOOKED_AT_TOGETHER = 100;

/** Looks at the heads of the lanes: how long that takes does not depend on how many wait behind them. */
export class WaitingJobs {
  readonly #parts: WaitingJobsParts;
  /** By place: who was on the way when it was first seen empty at the head of its lane. */
  #empty = new Map<string, readonly string[]>();

  constructor(parts: WaitingJobsParts) {
    this.#parts = parts;
  }

  /**
   * Hands out slots that a crash left free while others wait, passes over places that nobody is going to come to, and
   * notes which accounts are at rest.
   *
   * @returns how many things were put right.
   */
  async serve(ledgers: readonly LedgerRecord[]): Promise<number> {
    const { ledger, handOver, planOf } = this.#parts;
    const seenEmpty = new Map<string, readonly string[]>();
    let repaired = 0;
    for (const record of ledgers) {
      if (isAtRest(record)) await ledger.rest(record);
      else if (lanesAreEmpty(record)) repaired += Number(await this.#recountWaiting(record));
      else {
        repaired += await this.#passAbandoned(record, seenEmpty);
        const { plan } = await planOf(record._id);
        if (record.inFlight < plan.concurrentRenders) await handOver.serve(record._id);
      }
    }
    this.#empty = seenEmpty;
    return repaired;
  }

  /** Ends jobs that have waited for longer than their output would have been kept. @returns how many. */
  async expire(ledgers: readonly LedgerRecord[]): Promise<number> {
    let ended = 0;
    for (const record of ledgers) for (const lane of LANES) ended += await this.#expireLane(record, lane);
    return ended;
  }

  /** Once everybody has arrived who was on the way when a place was first seen empty, nobody is coming to it. */
  async #passAbandoned(record: LedgerRecord, seenEmpty: Map<string, readonly string[]>): Promise<number> {
    const { arriving = {} } = record;
    const onTheWay = Object.keys(arriving);
    let passed = 0;
    for (const lane of LANES) {
      const state = laneState(record, lane);
      const empty = await this.#emptyAtHead(record._id, lane, state);
      const expected = empty.map(
        (place) => this.#empty.get(place)?.filter((id) => id in arriving) ?? onTheWay,
      );
      for (const [i, ids] of expected.entries()) if (ids.length > 0) seenEmpty.set(empty[i]!, ids);
      const awaited = expected.findIndex((ids) => ids.length > 0);
      passed += await this.#passOver(record._id, lane, state, awaited === -1 ? empty.length : awaited);
    }
    return passed;
  }

  /** @returns how many places were passed over: none when the head has moved. */
  async #passOver(accountId: string, lane: Lane, { head }: LaneState, places: number): Promise<number> {
    if (places === 0) return 0;
    const moved = await this.#parts.ledger.passOver(accountId, lane, head, places);
    return moved === undefined ? 0 : places;
  }

  /** The first places of a lane, up to where somebody is. */
  async #emptyAtHead(accountId: string, lane: Lane, state: LaneState): Promise<string[]> {
    const { live } = this.#parts.store;
    const places = firstPlaces(accountId, lane, state, PASSED_AT_ONCE);
    const [first] = places;
    // Nearly always somebody is at the first: who is behind need not be read.
    if (first === undefined || (await live.at(first)) !== undefined) return [];
    for (let from = 0; from < places.length; from += LOOKED_AT_TOGETHER) {
      const some = places.slice(from, from + LOOKED_AT_TOGETHER);
      const taken = new Set((await live.atPlaces(some)).map(({ place }) => place));
      const end = some.findIndex((place) => taken.has(place));
      if (end !== -1) return places.slice(0, from + end);
    }
    return places;
  }

  /** Nobody is at a place: whoever is counted as waiting must be waiting for the time of its next attempt. */
  async #recountWaiting(record: LedgerRecord): Promise<boolean> {
    const { ledger, store } = this.#parts;
    const between = [record.arriving, record.leaving].some((names) => Object.keys(names ?? {}).length > 0);
    if (record.waiting === 0 || record.inFlight > 0 || between) return false;
    const waiting = await store.retries.countOf(record._id);
    return waiting !== record.waiting && (await ledger.setWaiting(record, waiting));
  }

  async #expireLane({ _id: accountId }: LedgerRecord, lane: Lane): Promise<number> {
    const { ledger, handOver } = this.#parts;
    let ended = 0;
    for (let looked = 0; looked < EXPIRED_AT_ONCE; ) {
      const record = await ledger.find(accountId);
      if (record === undefined) break;
      const state = laneState(record, lane);
      const first = await this.#atHead(accountId, lane, state);
      const over = firstOf(first, ({ state }) => hasEnded(state));
      const due = firstOf(first, (job) => this.#isOverdue(job) && isAlike(job, first[0]!));
      if (over.length > 0) {
        await handOver.clearPlaces(over);
        await ledger.passOver(accountId, lane, state.head, over.length);
      } else if (due.length > 0) ended += due.length - (await this.#expire(due)).length;
      else break;
      looked += over.length + due.length;
    }
    return ended;
  }

  /** Who wait or have ended at the first places of a lane, up to where nobody is. */
  async #atHead(accountId: string, lane: Lane, state: LaneState): Promise<Job[]> {
    const places = firstPlaces(accountId, lane, state, ENDED_TOGETHER);
    return places.length === 0 ? [] : atFirst(places, await this.#parts.store.live.atPlaces(places));
  }

  #isOverdue(job: Job): boolean {
    return job.createdAt.getTime() + job.retentionHours * HOUR_MS <= this.#parts.clock.now().getTime();
  }

  /** @returns those that have moved on meanwhile. */
  #expire(due: readonly Job[]): Promise<Job[]> {
    const { transitions } = this.#parts.store;
    return endWaiting(this.#parts, due, (jobs, leaving) =>
      transitions.failAll(jobs, leaving, new PlatenError('EXPIRED')),
    );
  }
}

/** The first ones of which something holds. */
function firstOf(jobs: readonly Job[], holds: (job: Job) => boolean): Job[] {
  const end = jobs.findIndex((job) => !holds(job));
  return jobs.slice(0, end === -1 ? jobs.length : end);
}

/** Whether two jobs that wait can be ended together. */
function isAlike(job: Job, other: Job): boolean {
  return (
    job.state === 'queued' && job.version === other.version && job.retentionHours === other.retentionHours
  );
}
