import { randomUUID } from 'node:crypto';
import type { Connection } from 'mongoose';
import { pino } from 'pino';
import type { Bus } from '../../src/bus/bus.ts';
import { createInProcessBus } from '../../src/bus/in-process.ts';
import type { Clock } from '../../src/clock.ts';
import { Dispatch } from '../../src/dispatch/dispatch.ts';
import { Slots } from '../../src/dispatch/slots.ts';
import { IdempotencyStore } from '../../src/idempotency/idempotency-store.ts';
import { RateLimiter } from '../../src/limits/rate-limiter.ts';
import { DEFAULT_PLANS, type Plan } from '../../src/plans/plan.ts';
import { HistoryMover } from '../../src/renders/history-mover.ts';
import type { Job, JobInput } from '../../src/renders/job.ts';
import { type JobCollections, jobCollections } from '../../src/renders/job-collections.ts';
import { Lifecycle } from '../../src/renders/lifecycle.ts';
import { connectDatabase, ensureIndexes } from '../../src/store/connection.ts';
import { Quota } from '../../src/usage/quota.ts';
import { RequestLog } from '../../src/usage/request-log.ts';
import { RequestRecorder } from '../../src/usage/request-recorder.ts';
import { Settlement } from '../../src/usage/settlement.ts';
import { UsageCounters } from '../../src/usage/usage-counters.ts';
import { UsageReports } from '../../src/usage/usage-reports.ts';
import { startMongo } from './mongo.ts';

/** A clock that a test can set forward. */
export class TestClock implements Clock {
  #offset = 0;
  now(): Date {
    return new Date(Date.now() + this.#offset);
  }
  pass(ms: number): void {
    this.#offset += ms;
  }
}

export interface Domain {
  readonly connection: Connection;
  readonly collections: JobCollections;
  readonly slots: Slots;
  readonly lifecycle: Lifecycle;
  readonly mover: HistoryMover;
  readonly dispatch: Dispatch;
  readonly bus: Bus;
  readonly clock: TestClock;
  readonly plan: Plan;
  readonly quota: Quota;
  readonly counters: UsageCounters;
  readonly settlement: Settlement;
  readonly requestLog: RequestLog;
  readonly recorder: RequestRecorder;
  readonly usage: UsageReports;
  readonly idempotency: IdempotencyStore;
  readonly limiter: RateLimiter;
  close(): Promise<void>;
}

/** The job life cycle on a database of its own; the same parts as in production, but for the clock. */
export async function openDomain(
  options: { plan?: Partial<Plan>; bus?: Bus; uri?: string } = {},
): Promise<Domain> {
  const logger = pino({ level: 'silent' });
  const clock = new TestClock();
  const connection = await connectDatabase(options.uri ?? (await startMongo()).uri, logger);
  const collections = jobCollections(connection);
  const slots = new Slots(connection, clock);
  const quota = new Quota(connection, clock);
  const counters = new UsageCounters(connection, logger);
  const settlement = new Settlement(quota, counters, logger);
  const requestLog = new RequestLog(connection, logger);
  const idempotency = new IdempotencyStore(connection, clock);
  const limiter = new RateLimiter(connection, clock);
  await ensureIndexes(connection);
  const lifecycle = new Lifecycle(collections, clock);
  const mover = new HistoryMover(collections, logger);
  const bus = options.bus ?? createInProcessBus();
  const plan: Plan = { ...DEFAULT_PLANS.professional, ...options.plan };
  const dispatch = new Dispatch({
    collections,
    lifecycle,
    slots,
    bus,
    mover,
    clock,
    logger,
    planOf: async () => plan,
    slotsPerWorker: 2,
    onEnded: (job) => settlement.ended(job),
  });
  return {
    connection,
    collections,
    slots,
    lifecycle,
    mover,
    dispatch,
    bus,
    clock,
    plan,
    quota,
    counters,
    settlement,
    requestLog,
    recorder: new RequestRecorder(requestLog, counters, clock),
    usage: new UsageReports({ quota, counters, requestLog, clock }),
    idempotency,
    limiter,
    async close() {
      await mover.flush();
      await settlement.flush();
      await requestLog.flush();
      await bus.close();
      await connection.close();
    },
  };
}

/** A new job, ready to submit, and its input. */
export function newJob(accountId: string, over: Partial<Job> = {}): { job: Job; input: JobInput } {
  const now = new Date();
  const job: Job = {
    _id: randomUUID(),
    version: 1,
    state: 'queued',
    accountId,
    apiKeyId: 'key',
    plan: 'professional',
    class: 'bulk',
    priority: 1,
    test: false,
    quotaPeriod: null,
    inputMode: 'html',
    outputMode: 'binary',
    fileName: 'document.pdf',
    format: 'A4',
    createdAt: now,
    updatedAt: now,
    dispatchedAt: null,
    startedAt: null,
    completedAt: null,
    notBefore: now,
    attempts: 0,
    maxAttempts: 3,
    crashes: 0,
    owner: null,
    leaseExpiresAt: null,
    error: null,
    retentionHours: 24,
    expiresAt: null,
    output: null,
    processingTimeMs: 0,
    ...over,
  };
  const input: JobInput = {
    _id: job._id,
    accountId,
    source: { mode: 'html', html: '<p>hello</p>' },
    options: {},
    timeoutMs: 30_000,
    maxOutputBytes: 1e7,
    createdAt: now,
  };
  return { job, input };
}

export async function slotsInUse(domain: Domain, accountId: string): Promise<number> {
  const record = (await domain.slots.all()).find(({ _id }) => _id === accountId);
  return record?.inFlight ?? 0;
}
