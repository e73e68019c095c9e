import { pino } from 'pino';
import { v7 } from 'uuid';
import { systemClock } from '../../../src/infra/clock.ts';
import type { ErrorCode } from '../../../src/infra/errors/registry.ts';
import { outputKey } from '../../../src/infra/outputs/output-store.ts';
import { connectDatabase } from '../../../src/infra/store/connection.ts';
import { RequestLog } from '../../../src/tenants/usage/request-log.ts';
import { UsageCounters, usageOf } from '../../../src/tenants/usage/usage-counters.ts';
import { type Batch, itemJobId } from '../../../src/work/batches/batch.ts';
import {
  type CallbackPayload,
  type Delivery,
  type DeliveryAttempt,
  newDelivery,
} from '../../../src/work/callbacks/delivery.ts';
import { failureKey, type Job } from '../../../src/work/jobs/job.ts';
import type { LedgerRecord } from '../../../src/work/jobs/ledger/ledger-record.ts';
import { type AccountClient, newEmail, signUp } from '../../support/account-client.ts';
import { newJob } from '../../support/domain.ts';
import type { TestService } from '../../support/service.ts';
import { givePlan } from './give-plan.ts';

const HOUR_MS = 3_600_000;
/** Hours with traffic, of the 168 of a week. */
const BUSY_HOURS = 99;
/** The failures of the week, one of each kind every few hours. */
export const FAILURES: readonly ErrorCode[] = [
  'RENDER_TIMEOUT',
  'SELECTOR_TIMEOUT',
  'URL_UNREACHABLE',
  'TEMPLATE_ERROR',
  'ASSET_FAILED',
  'EXCEPTION_THROWN',
];
/** Requests that never became a render. */
export const REFUSALS = ['VALIDATION', 'INVALID_URL'] as const;
/** Renders whose requests are in the log. */
const LOGGED = 30;
const RECEIVER = 'https://shop.example.com/platen/events';

/** An account after an ordinary week, and what it has. */
export interface SeededAccount {
  readonly email: string;
  readonly accountId: string;
  readonly client: AccountClient;
  readonly completed: number;
  readonly failed: number;
  /** The newest render of each. */
  readonly completedId: string;
  readonly failedId: string;
  readonly templateId: string;
  /** Forty documents, one of which has failed. */
  readonly batchId: string;
  /** One document, which has failed. */
  readonly failedBatchId: string;
}

/**
 * Signs an account up and gives it a week: renders in 99 hours, failures of six kinds, two batches of one minute, a template
 * in three versions and deliveries. Nothing is rendered, so it takes a second; PDFs are not there.
 */
export async function seedAccount(service: TestService, email = newEmail()): Promise<SeededAccount> {
  const client = await signUp(service.url, email);
  const accountId = await givePlan(service, client, 'business');
  const { connection } = service.tenants;
  const now = Date.now();
  const jobs = jobsOf(accountId, now);
  const batches = [batchOf(accountId, now - HOUR_MS, 40), batchOf(accountId, now - HOUR_MS, 1)];
  await connection
    .collection<Job>('job_history')
    .insertMany([...jobs, ...batches.flatMap((each) => each.jobs)]);
  await connection.collection<Batch>('batches').insertMany(batches.map(({ batch }) => batch));
  for (const { batch, jobs: items } of batches) {
    await connection
      .collection<{ _id: string; items: unknown }>('batch_chunks')
      .insertOne({ _id: `${batch._id}/0`, items: items.map(itemOf) });
  }
  await connection.collection<Delivery>('callback_deliveries').insertMany(deliveriesOf(accountId, jobs, now));
  await count(
    service,
    [...jobs, ...batches.flatMap((each) => each.jobs)],
    batches.map(({ batch }) => batch),
  );
  const templateId = await saveTemplate(client);
  const ended = (state: Job['state']) => jobs.filter((job) => job.state === state);
  return {
    email,
    accountId,
    client,
    completed: ended('completed').length,
    failed: ended('failed').length,
    completedId: ended('completed')[0]!._id,
    failedId: ended('failed')[0]!._id,
    templateId,
    batchId: batches[0]!.batch._id,
    failedBatchId: batches[1]!.batch._id,
  };
}

/** The newest first: twenty in the last minute, as after a run of a shop, then one in each of the busy hours. */
function jobsOf(accountId: string, now: number): Job[] {
  const last = Array.from({ length: 20 }, (_, n) =>
    endedJob(accountId, now - 60_000 + (20 - n) * 100, n % 5 === 4 ? n : undefined),
  );
  const earlier = Array.from({ length: BUSY_HOURS - 1 }, (_, n) =>
    endedJob(
      accountId,
      now - Math.floor(((n + 1) * 166 * HOUR_MS) / (BUSY_HOURS - 1)),
      n % 7 === 6 ? n : undefined,
    ),
  );
  return [...last, ...earlier];
}

/** @param failure which of the kinds of failures; undefined of one that completed. */
function endedJob(accountId: string, at: number, failure: number | undefined, own: Partial<Job> = {}): Job {
  const id = own._id ?? v7({ msecs: at });
  const createdAt = new Date(at);
  const processingTimeMs = 400 + (at % 3600);
  const completedAt = new Date(at + processingTimeMs + 150);
  const expiresAt = new Date(Date.now() + 24 * HOUR_MS);
  const code = failure === undefined ? undefined : FAILURES[failure % FAILURES.length]!;
  const { job } = newJob(accountId, {
    _id: id,
    state: code === undefined ? 'completed' : 'failed',
    ...{ createdAt, completedAt, expiresAt, updatedAt: completedAt, processingTimeMs },
    ...{ dispatchedAt: createdAt, startedAt: new Date(at + 150), attempts: 1, fileName: 'invoice.pdf' },
    ...(code === undefined
      ? {
          output: {
            key: outputKey(id, 1, expiresAt),
            size: 18_000 + (at % 9000),
            pages: 1 + (at % 3),
            sha256: '0'.repeat(64),
          },
        }
      : { error: { code, message: 'It did not work out.' }, failureKey: failureKey(completedAt, id) }),
    ...own,
  });
  return job;
}

/** A batch that has ended, whose last document has failed. */
function batchOf(accountId: string, at: number, total: number): { batch: Batch; jobs: Job[] } {
  const _id = v7({ msecs: at });
  const jobs = Array.from({ length: total }, (_, index) => {
    const id = `payslip-${index + 1}`;
    const item = { batchId: _id, id, index, chunk: 0 };
    const failure = index === total - 1 ? 3 : undefined;
    return endedJob(accountId, at + index * 300, failure, {
      _id: itemJobId({ _id }, index, id),
      item,
      fileName: `${id}.pdf`,
    });
  });
  const createdAt = new Date(at);
  const finishedAt = new Date(at + 60_000);
  const batch: Batch = {
    ...{
      _id,
      accountId,
      apiKeyId: 'key',
      plan: 'business',
      test: false,
      quotaPeriod: null,
      phase: 'completed',
    },
    ...{
      busyUntil: createdAt,
      total,
      chunkSize: 50,
      expanded: 1,
      firstPosition: 0,
      sharedParts: 0,
      recordBytes: 1024,
    },
    ...{
      notes: total > 1 ? 'Payroll November' : '',
      metadata: {},
      webhookUrl: null,
      createdAt,
      updatedAt: finishedAt,
    },
    ...{ cancelledAt: null, startedAt: createdAt, finishedAt, retentionHours: 24 },
    ...{ expiresAt: new Date(at + 25 * HOUR_MS), expectedSeconds: 10 },
    tallies: {
      0: { completed: total - 1, failed: 1, bytes: (total - 1) * 20_000, codes: { TEMPLATE_ERROR: 1 } },
    },
  };
  return { batch, jobs };
}

function itemOf({ item, fileName, inputMode, format }: Job) {
  return { id: item!.id, fileName, inputMode, format, inputBytes: 100 };
}

/** One of each state, with its attempts. */
function deliveriesOf(accountId: string, jobs: readonly Job[], now: number): Delivery[] {
  const of = (job: Job, state: Delivery['state'], responseStatus: number | null): Delivery => {
    const payload: CallbackPayload = {
      ...{ event: 'render.completed', jobId: job._id, status: job.state },
      ...{ statusUrl: `/v1/pdf/jobs/${job._id}`, completedAt: job.completedAt!.toISOString() },
    };
    const at = new Date(now - 60_000);
    const error =
      state === 'delivered'
        ? null
        : responseStatus === null
          ? 'The receiver did not respond in time.'
          : `The receiver responded with ${responseStatus}.`;
    const { dueAt: _, ...delivery } = newDelivery({ accountId }, RECEIVER, payload, at);
    return {
      ...delivery,
      ...(state === 'pending' && { dueAt: new Date(now + 4 * HOUR_MS) }),
      ...{
        state,
        attempts: 1,
        createdAt: at,
        lastAttemptAt: at,
        deliveredAt: state === 'delivered' ? at : null,
      },
      ...{ responseStatus, error, recentAttempts: [attemptOf({ at, responseStatus, error })] },
    };
  };
  const [a, b, c] = jobs.filter(({ state }) => state === 'completed') as [Job, Job, Job];
  return [of(a, 'delivered', 200), of(b, 'failed', 500), of(c, 'pending', null)];
}

function attemptOf(attempt: DeliveryAttempt): DeliveryAttempt {
  if (attempt.responseStatus === null) return { ...attempt, durationMs: 10_000 };
  const headers = [
    { name: 'content-type', value: 'text/plain; charset=utf-8' },
    { name: 'set-cookie', value: '***' },
  ];
  const body = attempt.responseStatus === 200 ? 'ok' : 'orders: the database does not respond';
  return { ...attempt, durationMs: 84, response: { headers, body, bodyIsCut: false } };
}

/** As the ends of jobs are counted and requests are logged, and two requests that were refused. */
async function count(service: TestService, jobs: readonly Job[], batches: readonly Batch[]): Promise<void> {
  const logger = pino({ level: 'silent' });
  const connection = await connectDatabase(service.mongodbUri, logger);
  const counters = new UsageCounters(connection, logger, async () => new Map());
  const outcomes = jobs.map(({ accountId, apiKeyId, completedAt, error, output, processingTimeMs: ms }) => ({
    ...{ accountId, apiKeyId, at: completedAt ?? systemClock.now(), errorCode: error?.code },
    ...(output && { rendered: { pages: output.pages, bytes: output.size, ms, phases: phasesOf(ms) } }),
  }));
  const [{ accountId }] = jobs as [Job];
  await connection
    .collection<LedgerRecord>('ledgers')
    .updateOne(
      { _id: accountId },
      { $inc: usageOf('usage', outcomes), $setOnInsert: { revision: 1, inFlight: 0, waiting: 0 } },
      { upsert: true },
    );
  for (const errorCode of REFUSALS)
    counters.record({ accountId, apiKeyId: 'key', at: systemClock.now(), errorCode });
  await counters.flush();
  const log = new RequestLog(connection, logger);
  const entry = {
    accountId,
    apiKeyId: v7(),
    apiKeyPrefix: 'sk_live_abcd',
    ipAddress: '203.0.113.7',
    method: 'POST',
  };
  const good = { status: 'success', errorReason: null, durationMs: 640 } as const;
  for (const { _id: jobId, createdAt } of jobs.slice(0, LOGGED))
    log.record({ ...entry, ...good, endpoint: '/v1/pdf', statusCode: 200, jobId, createdAt });
  for (const { _id: jobId, createdAt } of batches)
    log.record({ ...entry, ...good, endpoint: '/v1/pdf/batch', statusCode: 202, jobId, createdAt });
  for (const errorReason of REFUSALS)
    log.record({
      ...entry,
      ...{ endpoint: '/v1/pdf', status: 'error', errorReason, statusCode: 400, durationMs: 3 },
      createdAt: systemClock.now(),
    });
  await log.flush();
  await connection.close();
}

function phasesOf(ms: number) {
  return { page: ms * 0.1, load: ms * 0.4, wait: ms * 0.1, print: ms * 0.3, finish: ms * 0.1 };
}

async function saveTemplate(client: AccountClient): Promise<string> {
  const template = {
    name: 'Receipt',
    content: '<h1>Receipt {{ number }}</h1>\n<p>{{ customer.name }}</p>\n',
    sampleData: JSON.stringify({ number: '2026-001', customer: { name: 'Ada Lovelace' } }, null, 2),
  };
  const { id } = await client.expect(201, 'POST', '/user/templates', template);
  for (const word of ['Thank you.', 'Thank you very much.'])
    await client.expect(200, 'PATCH', `/user/templates/${id}`, {
      content: `${template.content}<p>${word}</p>\n`,
    });
  return id;
}
