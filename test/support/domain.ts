import { randomUUID } from 'node:crypto';
import type { Connection } from 'mongoose';
import { pino } from 'pino';
import type { Bus } from '../../src/bus/bus.ts';
import { createInProcessBus } from '../../src/bus/in-process.ts';
import type { Clock } from '../../src/clock.ts';
import type { Job, JobInput } from '../../src/jobs/job.ts';
import { DEFAULT_PLANS, type Plan } from '../../src/plans/plan.ts';
import { createJobServices, type JobServices } from '../../src/roles/job-services.ts';
import { connectDatabase, ensureIndexes } from '../../src/store/connection.ts';
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

export interface Domain extends JobServices {
  readonly connection: Connection;
  readonly clock: TestClock;
  readonly plan: Plan;
  /** State and code of the jobs that have ended, in that order. */
  readonly ended: string[];
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
  const ended: string[] = [];
  const services = createJobServices(connection, {
    bus: options.bus ?? createInProcessBus(),
    clock,
    logger,
    planOf: async () => plan,
    slotsPerWorker: 2,
    onEnded: ({ state, error }) => ended.push(`${state} ${error?.code}`),
  });
  await ensureIndexes(connection);
  return {
    ...services,
    connection,
    clock,
    plan,
    ended,
    async close() {
      await services.flush();
      await services.bus.close();
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
