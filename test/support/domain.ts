import type { Connection } from 'mongoose';
import { pino } from 'pino';
import type { Bus } from '../../src/infra/bus/bus.ts';
import { createInProcessBus } from '../../src/infra/bus/in-process.ts';
import type { Clock } from '../../src/infra/clock.ts';
import { pendingAdmission } from '../../src/infra/overload/pending-admission.ts';
import { ensureIndexes } from '../../src/infra/store/collection-spec.ts';
import { connectDatabase } from '../../src/infra/store/connection.ts';
import { openBatchesOn, openJobLife } from '../../src/roles/job-life.ts';
import { RateLimiter } from '../../src/tenants/limits/rate-limiter.ts';
import { DEFAULT_PLANS, type Plan } from '../../src/tenants/plans/plan.ts';
import { RequestLog } from '../../src/tenants/usage/request-log.ts';
import { RequestRecorder } from '../../src/tenants/usage/request-recorder.ts';
import { UsageCounters } from '../../src/tenants/usage/usage-counters.ts';
import { UsageReports } from '../../src/tenants/usage/usage-reports.ts';
import type { Batches } from '../../src/work/batches/open-batches.ts';
import type { Callbacks } from '../../src/work/callbacks/open-callbacks.ts';
import { SigningKeys } from '../../src/work/callbacks/signing-keys.ts';
import type { NewJob } from '../../src/work/jobs/admission.ts';
import { IdempotencyStore } from '../../src/work/jobs/idempotency-store.ts';
import type { Job } from '../../src/work/jobs/job.ts';
import { newJobId, newJob as newJobOfSubmission } from '../../src/work/jobs/new-job.ts';
import type { Jobs } from '../../src/work/jobs/open-jobs.ts';
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

export interface Domain extends Jobs {
  readonly batches: Batches;
  readonly callbacks: Callbacks & { readonly keys: SigningKeys };
  readonly connection: Connection;
  readonly bus: Bus;
  readonly clock: TestClock;
  /** Of workers, in milliseconds. */
  readonly leaseMs: number;
  readonly plan: Plan;
  readonly planOf: () => Promise<{ name: string; plan: Plan }>;
  readonly counters: UsageCounters;
  readonly requestLog: RequestLog;
  readonly recorder: RequestRecorder;
  readonly usage: UsageReports;
  readonly idempotency: IdempotencyStore;
  readonly limiter: RateLimiter;
  /** State and code of the ended jobs, in the order of their ends. */
  readonly ended: string[];
  /** Lets jobs in, as a request does. */
  admit(...jobs: NewJob[]): Promise<void>;
  /** Everything that is waiting to be written. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** The job life cycle on a database of its own; the same parts as in production, but for the clock. */
export async function openDomain(
  options: { plan?: Partial<Plan>; bus?: Bus; uri?: string } = {},
): Promise<Domain> {
  const logger = pino({ level: 'silent' });
  const clock = new TestClock();
  const connection = await connectDatabase(options.uri ?? (await startMongo()).uri, logger);
  const plan: Plan = { ...DEFAULT_PLANS.professional, ...options.plan };
  const planOf = async () => ({ name: 'professional', plan });
  const ended: string[] = [];
  const bus = options.bus ?? createInProcessBus();
  const counters = new UsageCounters(connection, logger);
  const requestLog = new RequestLog(connection, logger);
  const jobLife = openJobLife({
    connection,
    bus,
    clock,
    logger,
    usage: counters,
    planOf,
    slotsPerWorker: () => 2,
    observeEnd: ({ state, error }) => ended.push(`${state} ${error?.code}`),
  });
  const { jobs } = jobLife;
  const batches = openBatchesOn(jobLife, { clock, logger, planOf });
  const callbacks = { ...jobLife.callbacks, keys: new SigningKeys(connection, clock) };
  const idempotency = new IdempotencyStore(connection, clock);
  const limiter = new RateLimiter(connection, clock);
  await ensureIndexes(connection);
  const flush = async () => {
    await batches.reconciler.idle();
    await jobs.followUp.flush();
    await counters.flush();
    await requestLog.flush();
  };
  return {
    ...jobs,
    batches,
    callbacks,
    connection,
    bus,
    clock,
    leaseMs: 15_000,
    plan,
    planOf,
    counters,
    requestLog,
    recorder: new RequestRecorder(requestLog, counters, clock),
    usage: new UsageReports({
      quotaLeft: (accountId, period, quota) => jobs.blockLedger.left(accountId, period, quota),
      counters,
      requestLog,
      clock,
    }),
    idempotency,
    limiter,
    ended,
    admit: (...newJobs) =>
      jobs.admission.admit({ accountId: newJobs[0]!.job.accountId, plan }, newJobs, pendingAdmission()),
    flush,
    async close() {
      await flush();
      await bus.close();
      await connection.close();
    },
  };
}

/** A new job, ready for admission, and its input; by default it uses no quota. */
export function newJob(accountId: string, overrides: Partial<Job> = {}): NewJob {
  const plan: Plan = { ...DEFAULT_PLANS.professional, retentionHours: 24, maxOutputSizeBytes: 1e7 };
  const { job, input } = newJobOfSubmission(
    {
      jobId: overrides._id ?? newJobId(),
      source: { mode: 'html', html: '<p>hello</p>' },
      options: {},
      output: 'binary',
      fileName: 'document.pdf',
      execution: 'async',
    },
    { accountId, apiKeyId: 'key', apiKeyPrefix: 'sk_live', mode: 'live', planName: 'professional', plan },
    new Date(),
  );
  return { job: { ...job, quotaPeriod: null, ...overrides }, input };
}

export async function slotsInUse(domain: Domain, accountId: string): Promise<number> {
  return (await domain.ledger.find(accountId))?.inFlight ?? 0;
}
