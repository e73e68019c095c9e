import type { Connection } from 'mongoose';
import type { Bus } from '../bus/bus.ts';
import type { Clock } from '../clock.ts';
import { IdempotencyStore } from '../idempotency/idempotency-store.ts';
import { Dispatch } from '../jobs/dispatch.ts';
import { HistoryMover } from '../jobs/history-mover.ts';
import type { Job } from '../jobs/job.ts';
import { jobCollections } from '../jobs/job-collections.ts';
import { Lifecycle } from '../jobs/lifecycle.ts';
import { Slots } from '../jobs/slots.ts';
import { RateLimiter } from '../limits/rate-limiter.ts';
import type { Plan } from '../plans/plan.ts';
import type { Logger } from '../telemetry/logger.ts';
import { Quota } from '../usage/quota.ts';
import { RequestLog } from '../usage/request-log.ts';
import { RequestRecorder } from '../usage/request-recorder.ts';
import { Settlement } from '../usage/settlement.ts';
import { UsageCounters } from '../usage/usage-counters.ts';
import { UsageReports } from '../usage/usage-reports.ts';

export type JobServices = ReturnType<typeof createJobServices>;

/** The life of jobs, and what limits and counts them. To be made before the connection's indexes are. */
export function createJobServices(
  connection: Connection,
  parts: {
    bus: Bus;
    clock: Clock;
    logger: Logger;
    planOf: (accountId: string) => Promise<Plan>;
    slotsPerWorker: number;
    /** Told of every job that ends, however that comes. */
    onEnded?: (job: Job) => void;
  },
) {
  const { bus, clock, logger, planOf, slotsPerWorker, onEnded } = parts;
  const collections = jobCollections(connection);
  const slots = new Slots(connection, clock);
  const lifecycle = new Lifecycle(collections, clock);
  const mover = new HistoryMover(collections, logger);
  const quota = new Quota(connection, clock);
  const counters = new UsageCounters(connection, logger);
  const settlement = new Settlement(quota, counters, logger);
  const requestLog = new RequestLog(connection, logger);
  const dispatch = new Dispatch({
    collections,
    lifecycle,
    slots,
    bus,
    mover,
    clock,
    logger,
    planOf,
    slotsPerWorker,
    onEnded(job) {
      onEnded?.(job);
      return settlement.ended(job);
    },
  });
  return {
    bus,
    collections,
    slots,
    lifecycle,
    mover,
    dispatch,
    quota,
    counters,
    settlement,
    requestLog,
    recorder: new RequestRecorder(requestLog, counters, clock),
    usage: new UsageReports({ quota, counters, requestLog, clock }),
    idempotency: new IdempotencyStore(connection, clock),
    limiter: new RateLimiter(connection, clock),
    /** Writes what is still held in memory. */
    async flush(): Promise<void> {
      await mover.flush();
      await settlement.flush();
      await requestLog.flush();
    },
  };
}
