import { LRUCache } from 'lru-cache';
import { PlatenError } from '../../../infra/errors/registry.ts';
import { endEarly } from '../end-early.ts';
import { hasEnded, type Job } from '../job.ts';
import { isAtRest, type LedgerRecord, queueState, queuesAreEmpty } from '../ledger/ledger-record.ts';
import {
  atFirst,
  firstPositions,
  PRIORITY_QUEUES,
  type QueueName,
  type QueueState,
} from '../priority-queues.ts';
import type { SweptJobs } from './swept-jobs.ts';

const HOUR_MS = 3_600_000;
/** Jobs of one queue that one run ends, and how many of them are ended together. */
const EXPIRED_AT_ONCE = 1000;
const ENDED_TOGETHER = 100;
/** Empty positions of one queue that one run passes over, and how many of them are read together. */
const PASSED_AT_ONCE = 1000;
const READ_TOGETHER = 100;

/** Empty positions that are remembered; one that is forgotten waits for the admissions of the moment once more. */
const REMEMBERED = 100_000;

/** Checks the heads of the queues. The cost does not depend on how many jobs wait behind them. */
export class WaitingJobs {
  readonly #deps: SweptJobs;
  /** By position: the admissions that were pending when the position was first seen empty at the head of its queue. */
  readonly #empty = new LRUCache<string, readonly string[]>({ max: REMEMBERED });

  constructor(deps: SweptJobs) {
    this.#deps = deps;
  }

  /**
   * Gives out slots that a crash left free while jobs wait, passes over positions at which no job will be written any
   * more, and records which accounts have nothing to check.
   *
   * @returns the number of repairs.
   */
  async serve(ledgers: readonly LedgerRecord[]): Promise<number> {
    const { ledger, dispatch, planOf } = this.#deps;
    let repaired = 0;
    for (const record of ledgers) {
      if (isAtRest(record)) await ledger.rest(record);
      else if (queuesAreEmpty(record)) repaired += Number(await this.#recountWaiting(record));
      else {
        repaired += await this.#passAbandoned(record);
        const { plan } = await planOf(record._id);
        if (record.inFlight < plan.concurrentRenders) await dispatch.serve(record._id);
      }
    }
    return repaired;
  }

  /** Ends jobs that have waited for longer than their retention. @returns the number of jobs. */
  async expire(ledgers: readonly LedgerRecord[]): Promise<number> {
    let ended = 0;
    for (const record of ledgers) {
      for (const queue of PRIORITY_QUEUES) {
        const { head, tail } = queueState(record, queue);
        if (head < tail) ended += await this.#expireQueue(record, queue);
      }
    }
    return ended;
  }

  /** Once no admission pends that did when a position was first seen empty, no job will be written there. */
  async #passAbandoned(record: LedgerRecord): Promise<number> {
    const pending = Object.keys(record.pending ?? {});
    let passed = 0;
    for (const queue of PRIORITY_QUEUES) {
      const state = queueState(record, queue);
      const empty = await this.#emptyAtHead(record._id, queue, state);
      const expected = empty.map(
        (position) => this.#empty.get(position)?.filter((id) => pending.includes(id)) ?? pending,
      );
      for (const [i, ids] of expected.entries()) {
        if (ids.length > 0) this.#empty.set(empty[i]!, ids);
        else this.#empty.delete(empty[i]!);
      }
      const awaited = expected.findIndex((ids) => ids.length > 0);
      passed += await this.#passOver(record._id, queue, state, awaited === -1 ? empty.length : awaited);
    }
    return passed;
  }

  /** @returns the number of positions passed over: 0 when the head has moved. */
  async #passOver(
    accountId: string,
    queue: QueueName,
    { head }: QueueState,
    positions: number,
  ): Promise<number> {
    if (positions === 0) return 0;
    const moved = await this.#deps.ledger.passOver(accountId, queue, head, positions);
    return moved === undefined ? 0 : positions;
  }

  /** The first positions of a queue, up to a position with a job. */
  async #emptyAtHead(accountId: string, queue: QueueName, state: QueueState): Promise<string[]> {
    const { live } = this.#deps.store;
    const positions = firstPositions(accountId, queue, state, PASSED_AT_ONCE);
    const [first] = positions;
    // Nearly always the first position has a job; then the others need not be read.
    if (first === undefined || (await live.atPositions([first])).length > 0) return [];
    for (let from = 0; from < positions.length; from += READ_TOGETHER) {
      const some = positions.slice(from, from + READ_TOGETHER);
      const taken = new Set((await live.atPositions(some)).map(({ position }) => position));
      const end = some.findIndex((position) => taken.has(position));
      if (end !== -1) return positions.slice(0, from + end);
    }
    return positions;
  }

  /** No job is at a position, so all jobs that count as waiting must wait for the time of their next attempt. */
  async #recountWaiting(record: LedgerRecord): Promise<boolean> {
    const { ledger, store } = this.#deps;
    const between = [record.pending, record.finalising].some((names) => Object.keys(names ?? {}).length > 0);
    if (record.waiting === 0 || record.inFlight > 0 || between) return false;
    const waiting = await store.retries.countOf(record._id);
    return waiting !== record.waiting && (await ledger.setWaiting(record, waiting));
  }

  async #expireQueue({ _id: accountId }: LedgerRecord, queue: QueueName): Promise<number> {
    const { ledger, dispatch } = this.#deps;
    let ended = 0;
    for (let checked = 0; checked < EXPIRED_AT_ONCE; ) {
      const record = await ledger.find(accountId);
      if (record === undefined) break;
      const state = queueState(record, queue);
      const first = await this.#atHead(accountId, queue, state);
      const over = firstOf(first, ({ state }) => hasEnded(state));
      const due = firstOf(first, (job) => this.#isOverdue(job) && isAlike(job, first[0]!));
      if (over.length > 0) {
        await dispatch.clearPositions(over);
        await ledger.passOver(accountId, queue, state.head, over.length);
      } else if (due.length > 0) {
        const error = new PlatenError('EXPIRED');
        ended += (await endEarly(this.#deps, due, { error, whole: true })).length;
      } else break;
      checked += over.length + due.length;
    }
    return ended;
  }

  /** The waiting or ended jobs at the first positions of a queue, up to a position without a job. */
  async #atHead(accountId: string, queue: QueueName, state: QueueState): Promise<Job[]> {
    const positions = firstPositions(accountId, queue, state, ENDED_TOGETHER);
    return positions.length === 0
      ? []
      : atFirst(positions, await this.#deps.store.live.atPositions(positions));
  }

  #isOverdue(job: Job): boolean {
    return job.createdAt.getTime() + job.retentionHours * HOUR_MS <= this.#deps.clock.now().getTime();
  }
}

function firstOf(jobs: readonly Job[], holds: (job: Job) => boolean): Job[] {
  const end = jobs.findIndex((job) => !holds(job));
  return jobs.slice(0, end === -1 ? jobs.length : end);
}

/** Whether two waiting jobs can be ended together. */
function isAlike(job: Job, other: Job): boolean {
  return (
    job.state === 'queued' && job.version === other.version && job.retentionHours === other.retentionHours
  );
}
