import { LRUCache } from 'lru-cache';
import type { Clock } from '../../infra/clock.ts';
import type { ErrorCode } from '../../infra/errors/registry.ts';
import { FixedWindow } from '../../infra/store/fixed-window.ts';
import type { Caller } from '../accounts/caller.ts';
import type { Plan } from '../plans/plan.ts';
import type { RequestDetails, RequestDetailsStore } from './request-details.ts';
import type { RequestLog } from './request-log.ts';
import type { UsageCounters } from './usage-counters.ts';

interface RecordedRequest {
  readonly caller: Pick<Caller, 'accountId' | 'apiKeyId' | 'apiKeyPrefix'> & {
    readonly plan: Pick<Plan, 'retentionHours'>;
  };
  readonly endpoint: string;
  readonly ipAddress: string;
  readonly method: string;
  readonly statusCode: number;
  /** In milliseconds. */
  readonly durationMs: number;
  /** Undefined for a success. */
  readonly errorCode: ErrorCode | undefined;
  /** The job or batch of the request, whether this request or an earlier one has created it. */
  readonly jobId: string | undefined;
}

/** What was said in a request. */
export type Said = Omit<RequestDetails, '_id' | 'endsAt'>;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/**
 * The most entries a minute that one process logs of an account's requests beyond its rate. Without this bound, a
 * caller that keeps sending requests would fill the log and the disk.
 */
const LOGGED_BEYOND_RATE = 60;
/** Accounts whose requests beyond their rate are counted at a time. */
const REMEMBERED = 10_000;

/**
 * Records requests for work. The log has all requests, except most of those beyond the rate; the usage has all rejected
 * requests. The outcome of an accepted request is counted when its job ends, so that each job counts once, and a
 * repeated request does not count.
 */
export class RequestRecorder {
  /** The number of logged requests, by the window of an account. */
  readonly #beyondRate = new LRUCache<string, number>({ max: REMEMBERED });
  readonly #minute: FixedWindow;
  readonly #log: RequestLog;
  readonly #details: RequestDetailsStore;
  readonly #counters: UsageCounters;
  readonly #clock: Clock;

  constructor(log: RequestLog, details: RequestDetailsStore, counters: UsageCounters, clock: Clock) {
    this.#log = log;
    this.#details = details;
    this.#counters = counters;
    this.#clock = clock;
    this.#minute = new FixedWindow(MINUTE_MS, clock);
  }

  /**
   * Written within a second; never fails.
   *
   * @returns what notes the headers and bodies of the request; undefined when it is not logged.
   */
  record({ caller, errorCode, jobId, ...request }: RecordedRequest): ((said: Said) => void) | undefined {
    let entryId: string | undefined;
    const at = this.#clock.now();
    const { accountId, apiKeyId } = caller;
    if (errorCode !== 'RATE_LIMITED' || this.#isLogged(accountId)) {
      entryId = this.#log.record({
        accountId,
        apiKeyId,
        apiKeyPrefix: caller.apiKeyPrefix,
        ...request,
        status: errorCode === undefined ? 'success' : 'error',
        errorReason: errorCode ?? null,
        ...(jobId !== undefined && { jobId }),
        createdAt: at,
      });
    }
    // A request that is still being processed is counted when its own job ends.
    const refused = errorCode !== undefined && jobId === undefined && errorCode !== 'IDEMPOTENCY_IN_PROGRESS';
    if (refused) this.#counters.record({ accountId, apiKeyId, at, errorCode });
    // Bodies are documents: a plan that keeps no documents keeps no bodies either.
    if (entryId === undefined || caller.plan.retentionHours === 0) return undefined;
    const _id = entryId;
    const endsAt = new Date(at.getTime() + caller.plan.retentionHours * HOUR_MS);
    return (said) => this.#details.add({ _id, ...said, endsAt });
  }

  /** Whether one more request beyond the rate is logged. */
  #isLogged(accountId: string): boolean {
    const { id } = this.#minute.of(accountId);
    const count = this.#beyondRate.get(id) ?? 0;
    if (count >= LOGGED_BEYOND_RATE) return false;
    this.#beyondRate.set(id, count + 1);
    return true;
  }
}
