import type { Connection } from 'mongoose';
import { pino } from 'pino';
import type { Bus } from '../../src/infra/bus/bus.ts';
import { createInProcessBus } from '../../src/infra/bus/in-process.ts';
import type { Clock } from '../../src/infra/clock.ts';
import { pendingAdmission } from '../../src/infra/overload/pending-admission.ts';
import { ensureIndexes } from '../../src/infra/store/collection-spec.ts';
import { connectDatabase } from '../../src/infra/store/connection.ts';
import { DEFAULT_PLANS, type Plan } from '../../src/tenants/plans/plan.ts';
import { openUsage, type Usage } from '../../src/tenants/usage/open-usage.ts';
import type { NewJob } from '../../src/work/jobs/admission.ts';
import type { Job } from '../../src/work/jobs/job.ts';
import { newJobId, newJob as newJobOfSubmission } from '../../src/work/jobs/new-job.ts';
import { openWork, type Work } from '../../src/work/open-work.ts';
import { startMongo } from './mongo.ts';
import { used } from './used.ts';

/** A clock that a test can set forward. */
export class TestClock implements Clock {
  /** Milliseconds by which it is ahead. */
  offset = 0;
  now(): Date {
    return new Date(Date.now() + this.offset);
  }
  pass(ms: number): void {
    this.offset += ms;
  }
}

/** The work of accounts on a database of its own; the same parts as in production, but for the clock. */
export type Domain = Awaited<ReturnType<typeof openDomain>>;

interface DomainOptions {
  readonly plan?: Partial<Plan>;
  readonly bus?: Bus;
  /** Of a database that others use as well. */
  readonly uri?: string;
  /** A connection to it that others use as well. */
  readonly connection?: Connection;
}

export async function openDomain(options: DomainOptions = {}) {
  const logger = pino({ level: 'silent' });
  const clock = new TestClock();
  const uri = options.uri ?? (await startMongo()).uri;
  const connection = options.connection ?? (await connectDatabase(uri, logger));
  const plan: Plan = { ...DEFAULT_PLANS.professional, ...options.plan };
  const planOf = async () => ({ name: 'professional', plan });
  /** State and code of the ended jobs, in the order of their ends. */
  const ended: string[] = [];
  const bus = options.bus ?? createInProcessBus();
  const core = { connection, bus, clock, logger, planOf };
  const usage: Usage = openUsage(core, {
    quotaLeft: (...of) => work.jobs.blockLedger.left(...of),
    readUncounted: (ids) => work.jobs.ledgerUsage.read(ids),
  });
  const work: Work = openWork({
    ...{ ...core, usage },
    slotsPerWorker: () => 2,
    observeEnd: ({ state, error }) => ended.push(`${state} ${error?.code}`),
  });
  const { jobs } = work;
  await ensureIndexes(connection);
  /** Everything that is waiting to be written. */
  async function flush(): Promise<void> {
    await work.flush();
    await usage.flush();
  }
  return {
    ...{ ...core, ...work, ...jobs, ...usage },
    usage,
    uri,
    plan,
    ended,
    flush,
    /** Of workers, in milliseconds. */
    leaseMs: 15_000,
    /** Lets jobs in, as a request does. */
    admit: (...newJobs: NewJob[]) =>
      jobs.admission.admit({ accountId: newJobs[0]!.job.accountId, plan }, newJobs, pendingAdmission()),
    async close() {
      await flush();
      await bus.close();
      await connection.close();
    },
  };
}

/** A domain for the tests of one `describe`, there from its `before` on; with `each`, one for each test. */
export function useDomain(options?: DomainOptions, each?: 'each'): Domain {
  return used(() => openDomain(options), each);
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
