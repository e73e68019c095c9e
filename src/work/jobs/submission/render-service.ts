import type { Core } from '../../../infra/core.ts';
import { PlatenError } from '../../../infra/errors/registry.ts';
import type { StoredOutput } from '../../../infra/outputs/output-store.ts';
import { pendingAdmission } from '../../../infra/overload/pending-admission.ts';
import type { Caller } from '../../../tenants/accounts/caller.ts';
import { JobExists } from '../admission.ts';
import { endEarly } from '../end-early.ts';
import { hasEnded, type Job, type JobInput, keptOutput } from '../job.ts';
import { statusOf } from '../job-record.ts';
import { positionsBefore, queueState, waitingIn } from '../ledger/ledger-record.ts';
import { type JobSubmission, newJob, newJobId, withinPlan } from '../new-job.ts';
import type { Jobs } from '../open-jobs.ts';
import { firstPositions, PRIORITY_QUEUES } from '../priority-queues.ts';
import type { FindQuery, Found } from '../store/find-jobs.ts';
import type { JobListQuery } from '../store/listing.ts';
import { LINK_LIFE_MS } from './download-links.ts';
import type { OutcomeWaiter, WaitResult } from './outcome-waiter.ts';

/** How many concurrent changes of one job a cancellation follows before it gives up. */
const CANCEL_TRIES = 10;

/** A render request whose fields have been validated, and whose template exists. */
export interface RenderSubmission extends Omit<JobSubmission, 'jobId'> {
  /** Set when the id of the job was chosen beforehand, with an idempotency key. */
  readonly jobId?: string;
}

/** A test key sees the jobs of test keys, a live key those of live keys, the account itself all. */
type JobOwner = Pick<Caller, 'accountId'> & Partial<Pick<Caller, 'mode'>>;

export interface Accepted {
  readonly jobId: string;
  /** Resolves when the job has ended or will be retried, or after the sync wait; at once for an async submission. */
  readonly outcome: Promise<WaitResult>;
  /** Ends the wait early, when the caller has disconnected. */
  stopWaiting(): void;
}

interface RenderServiceDeps
  extends Pick<Core, 'clock' | 'outputs'>,
    Pick<Jobs, 'store' | 'ledger' | 'admission' | 'followUp'> {
  readonly waiter: OutcomeWaiter;
  /** How long a synchronous submission waits, in milliseconds. */
  readonly syncWaitMs: number;
}

/** Accepts submissions, and reads and cancels their jobs, for the API. */
export class RenderService {
  readonly #deps: RenderServiceDeps;

  constructor(deps: RenderServiceDeps) {
    this.#deps = deps;
  }

  /**
   * Accepts a submission. When it resolves, the job is durable; nothing is guaranteed before.
   *
   * @throws PlatenError PLAN_LIMIT for a longer timeout than the plan's, or a PDF that the plan does not keep and nobody
   * receives; QUOTA_EXCEEDED; TOO_MANY_WAITING.
   */
  async submit(
    caller: Caller,
    submission: RenderSubmission,
    pending = pendingAdmission(),
  ): Promise<Accepted> {
    const { clock, admission, waiter } = this.#deps;
    const { plan } = caller;
    const wanted = submission.options.timeoutMs;
    if (wanted !== undefined && wanted > plan.maxTimeoutMs) {
      throw new PlatenError('PLAN_LIMIT', `options.timeoutMs: the plan allows at most ${plan.maxTimeoutMs}.`);
    }
    if (plan.retentionHours === 0) requireReceiver(submission);
    const jobId = submission.jobId ?? newJobId();
    const accepted = this.#expect(caller.accountId, jobId, submission.execution);
    try {
      const job = newJob(
        { ...submission, jobId, trace: pending.trace, replyTo: waiter.address },
        caller,
        clock.now(),
      );
      await admission.admit(caller, [job], pending);
    } catch (error) {
      // An earlier attempt of the same request has begun the job: all that remains is to wait for it.
      if (error instanceof JobExists) return accepted;
      accepted.stopWaiting();
      throw error;
    }
    pending.timer.admitted();
    return accepted;
  }

  /**
   * Continues a submission whose first request died, under the job id that was chosen for it.
   *
   * @returns the job to wait for; undefined when it was never accepted and has to be submitted.
   */
  async resume(
    accountId: string,
    jobId: string,
    execution: RenderSubmission['execution'],
  ): Promise<Accepted | undefined> {
    const { store, admission } = this.#deps;
    const accepted = this.#expect(accountId, jobId, execution);
    const job = await store.find(accountId, jobId);
    if (job !== undefined && (execution === 'async' || !hasEnded(job.state))) return accepted;
    accepted.stopWaiting();
    if (job !== undefined)
      return { jobId, outcome: Promise.resolve({ kind: 'ended', job }), stopWaiting() {} };
    // A sweep would give back the unused reservations later; the submission need not wait for that.
    await admission.abandon(accountId, jobId);
    return undefined;
  }

  /** @throws PlatenError NOT_FOUND for a job that is missing, another account's or past its retention. */
  async get({ accountId, mode }: JobOwner, jobId: string): Promise<Job> {
    const job = await this.#deps.store.find(accountId, jobId);
    if (job === undefined || (mode !== undefined && job.test !== (mode === 'test'))) throw missing(jobId);
    return job;
  }

  list(
    { accountId, mode }: JobOwner,
    query: Omit<JobListQuery, 'accountId' | 'test'>,
  ): Promise<{ total: number; jobs: Job[] }> {
    return this.#deps.store.list({
      accountId,
      ...(mode !== undefined && { test: mode === 'test' }),
      ...query,
    });
  }

  /** The same by terms that no index has, among MOST_EXAMINED jobs at most. */
  findBy({ accountId, mode }: JobOwner, query: Omit<FindQuery, 'accountId' | 'test'>): Promise<Found> {
    return this.#deps.store.findBy({
      accountId,
      ...(mode !== undefined && { test: mode === 'test' }),
      ...query,
    });
  }

  /** Its slot becomes free and its render stops. @throws PlatenError NOT_FOUND; JOB_ENDED when it has ended. */
  async cancel(owner: JobOwner, jobId: string): Promise<Job> {
    for (let tries = 0; tries < CANCEL_TRIES; tries += 1) {
      const job = await this.get(owner, jobId);
      if (hasEnded(job.state))
        throw new PlatenError('JOB_ENDED', `The job is ${job.state} already.`, { jobId });
      const [cancelled] = await endEarly(this.#deps, [job]);
      if (cancelled !== undefined) return cancelled;
    }
    throw new PlatenError('UNAVAILABLE', 'The job keeps changing; try again.', {
      jobId,
      retryAfterSeconds: 1,
    });
  }

  /** Cancels a job that no worker has begun; does nothing to a running or ended job. */
  async cancelIfNotStarted(accountId: string, jobId: string): Promise<void> {
    const job = await this.#deps.store.find(accountId, jobId);
    if (job?.state === 'queued' || job?.state === 'dispatched') await endEarly(this.#deps, [job]);
  }

  /** @throws PlatenError NOT_FOUND unless the job is completed and its PDF exists. */
  async openOutput(job: Job): Promise<StoredOutput> {
    const output = keptOutput(job);
    const stored = output === null ? undefined : await this.#deps.outputs.get(output.key);
    if (stored === undefined) throw withoutFile(job);
    return stored;
  }

  /** The XML of an e-invoice. @throws PlatenError NOT_FOUND unless the job is completed and is one. */
  async openEinvoice(job: Job): Promise<StoredOutput> {
    const key = job.output?.einvoice?.key;
    const stored = key && (await this.#deps.outputs.get(key));
    if (!stored) throw new PlatenError('NOT_FOUND', 'The job has no e-invoice.', { jobId: job._id });
    return stored;
  }

  /**
   * An address at which the output store itself sends the PDF of a completed job, for LINK_LIFE_MS or until `ends`.
   *
   * @returns undefined when callers do not reach the store.
   */
  async addressAtStore(
    job: Job,
    ends: Date,
    now: Date,
  ): Promise<{ url: string; expiresAt: Date } | undefined> {
    const { outputs } = this.#deps;
    const { fileName } = job;
    const output = keptOutput(job);
    if (output === null || outputs.address === undefined) return undefined;
    // Signatures have a time in whole seconds.
    const from = Math.floor(now.getTime() / 1000) * 1000;
    const seconds = Math.floor(Math.min(LINK_LIFE_MS, ends.getTime() - from) / 1000);
    if (seconds < 1) return undefined;
    const url = await outputs.address(output.key, { fileName, now: new Date(from), seconds });
    return url === undefined ? undefined : { url, expiresAt: new Date(from + seconds * 1000) };
  }

  /**
   * The report of the last attempt.
   *
   * @returns undefined when the report was lost, or could not be stored.
   * @throws PlatenError NOT_FOUND when no report was requested, or the job has not ended.
   */
  async openReport(job: Job): Promise<StoredOutput | undefined> {
    const { _id: jobId, state, report, keepsNothing } = job;
    const notFound = (message: string) => new PlatenError('NOT_FOUND', message, { jobId });
    if (!job.wantsReport) throw notFound('The job has no report: ask for one with "report": true.');
    if (!hasEnded(state)) throw notFound('The job has no report yet: it has one once it has ended.');
    if (keepsNothing) throw notFound('The report is not kept: the plan keeps no documents.');
    return report === undefined ? undefined : await this.#deps.outputs.get(report.key);
  }

  /** Whether the input of the job is still stored: until it has completed, or its retention has ended. */
  async hasInput(job: Job): Promise<boolean> {
    return job.state !== 'completed' && (await this.#deps.store.inputs.has(job));
  }

  /** The input of the job. @throws PlatenError GONE when it is not stored any more. */
  async inputOf({ _id, state }: Job): Promise<JobInput> {
    const input = state === 'completed' ? undefined : await this.#deps.store.inputs.load(_id);
    if (input === undefined)
      throw new PlatenError('GONE', 'The input of the job is no longer kept.', { jobId: _id });
    return input;
  }

  /**
   * The submission that repeats a job without a PDF, under the account's present plan: a timeout that exceeds the plan
   * is shortened, and a callback is left out if the plan has none, or an earlier owner of the account named its address.
   *
   * @throws PlatenError NOT_RETRYABLE for a job that has neither failed nor been cancelled; GONE.
   */
  async retryOf(
    job: Job,
    { plan, ownerFence }: Pick<Caller, 'plan' | 'ownerFence'>,
  ): Promise<RenderSubmission> {
    if (job.state !== 'failed' && job.state !== 'cancelled') {
      const message = `The job is ${statusOf(job)}: only one that has failed or was cancelled is rendered again.`;
      throw new PlatenError('NOT_RETRYABLE', message, { jobId: job._id });
    }
    const { source, options } = await this.inputOf(job);
    const { webhookUrl } = job;
    const isCalledBack = plan.features.callbacks && job.ownerFence === ownerFence;
    return {
      source,
      options: withinPlan(options, plan),
      output: job.outputMode,
      fileName: job.fileName,
      execution: 'async',
      retryOf: job._id,
      ...(webhookUrl !== undefined && isCalledBack && { webhookUrl }),
    };
  }

  /** The jobs of an account that run and wait now. */
  async queue(accountId: string) {
    const { ledger, store } = this.#deps;
    const record = await ledger.find(accountId);
    if (record === undefined) return { inFlight: 0, waiting: 0, oldestWaitingAt: null };
    const { inFlight } = record;
    const waiting = waitingIn(record);
    const heads = PRIORITY_QUEUES.flatMap((queue) =>
      firstPositions(accountId, queue, queueState(record, queue), 1),
    );
    const first = heads.length === 0 ? [] : await store.live.atPositions(heads);
    const [oldest = null] = first.map(({ createdAt }) => createdAt).sort((a, b) => a.getTime() - b.getTime());
    return { inFlight, waiting, oldestWaitingAt: oldest };
  }

  /** Changes whenever a job of the account is admitted, gets its slot or ends. Reads one record. */
  async activity(accountId: string): Promise<{ revision: number; inFlight: number; waiting: number }> {
    const record = await this.#deps.ledger.find(accountId);
    if (record === undefined) return { revision: 0, inFlight: 0, waiting: 0 };
    const { revision, inFlight } = record;
    return { revision, inFlight, waiting: waitingIn(record) };
  }

  /** The plan slots in use, and the number of jobs before this one; null when it does not wait at a position. */
  async standing({ accountId, state, position }: Job): Promise<{ inFlight: number; ahead: number | null }> {
    const record = await this.#deps.ledger.find(accountId);
    const waits = record !== undefined && state === 'queued' && position !== undefined;
    return { inFlight: record?.inFlight ?? 0, ahead: waits ? positionsBefore(position, record) : null };
  }

  /** Starts to wait for the end of a job before it is submitted, so that no event is missed. */
  #expect(accountId: string, jobId: string, execution: RenderSubmission['execution']): Accepted {
    if (execution === 'async')
      return { jobId, outcome: Promise.resolve({ kind: 'timeout' }), stopWaiting() {} };
    const { waiter, syncWaitMs } = this.#deps;
    const wait = waiter.expect(jobId, syncWaitMs, () => this.#progress(accountId, jobId));
    return { jobId, outcome: wait.result, stopWaiting: wait.stop };
  }

  async #progress(accountId: string, jobId: string): Promise<'ended' | 'retrying' | undefined> {
    const job = await this.#deps.store.find(accountId, jobId);
    if (job === undefined || hasEnded(job.state)) return 'ended';
    return job.state === 'queued' && job.error !== null ? 'retrying' : undefined;
  }
}

/** The error for a PDF that cannot be fetched, with the reason. */
export function withoutFile({ _id: jobId, output, keepsNothing }: Job): PlatenError {
  const why =
    output !== null && keepsNothing
      ? 'The PDF is not kept any more: the plan keeps no documents, and it was delivered, or was not fetched in time.'
      : 'The job has no file to download.';
  return new PlatenError('NOT_FOUND', why, { jobId });
}

/** @throws PlatenError PLAN_LIMIT unless the PDF has one receiver: the caller that waits, or the address of an upload. */
function requireReceiver({ execution, output, uploadUrl }: RenderSubmission): void {
  const isAwaited = execution === 'sync';
  if (isAwaited && uploadUrl !== undefined)
    throw new PlatenError(
      'PLAN_LIMIT',
      'uploadUrl: the plan keeps no PDFs, so each has one receiver. Set "executionMode" to "async", or leave uploadUrl out.',
    );
  if (!isAwaited && uploadUrl === undefined)
    throw new PlatenError(
      'PLAN_LIMIT',
      'executionMode: the plan keeps no PDFs, and nobody would receive this one. Wait for it ("sync"), or give an uploadUrl.',
    );
  if (isAwaited && output === 'url')
    throw new PlatenError(
      'PLAN_LIMIT',
      'output: the plan keeps no PDFs, so there is none to link to. Use "binary".',
    );
}

function missing(jobId: string): PlatenError {
  return new PlatenError('NOT_FOUND', `There is no job ${jobId}.`);
}
