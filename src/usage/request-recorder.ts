import type { Caller } from '../accounts/caller.ts';
import type { Clock } from '../clock.ts';
import type { ErrorCode } from '../errors/registry.ts';
import type { RequestLog } from './request-log.ts';
import type { UsageCounters } from './usage-counters.ts';

export interface RecordedRequest {
  readonly caller: Pick<Caller, 'accountId' | 'apiKeyId' | 'apiKeyPrefix'>;
  /** Path pattern of the route. */
  readonly endpoint: string;
  readonly ipAddress: string;
  /** Undefined for a success. */
  readonly errorCode: ErrorCode | undefined;
  /** Whether the request got a job, by its own work or by an earlier request's. */
  readonly hasJob: boolean;
}

/**
 * Records requests for work: every one in the log; in the usage those that were refused. What became of an accepted
 * one is counted when its job ends, so each counts once, and a repetition of a request not at all.
 */
export class RequestRecorder {
  readonly #log: RequestLog;
  readonly #counters: UsageCounters;
  readonly #clock: Clock;

  constructor(log: RequestLog, counters: UsageCounters, clock: Clock) {
    this.#log = log;
    this.#counters = counters;
    this.#clock = clock;
  }

  /** Written within a second; never fails. */
  record({ caller, endpoint, ipAddress, errorCode, hasJob }: RecordedRequest): void {
    const at = this.#clock.now();
    const { accountId, apiKeyId } = caller;
    this.#log.record({
      accountId,
      apiKeyId,
      apiKeyPrefix: caller.apiKeyPrefix,
      endpoint,
      ipAddress,
      status: errorCode === undefined ? 'success' : 'error',
      errorReason: errorCode ?? null,
      createdAt: at,
    });
    // The request that is still being processed is counted when its own job ends.
    const refused = errorCode !== undefined && !hasJob && errorCode !== 'IDEMPOTENCY_IN_PROGRESS';
    if (refused) this.#counters.record({ accountId, apiKeyId, at, errorCode });
  }
}
