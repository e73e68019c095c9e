import { maskOptions } from '../../render/options/all/secrets.ts';
import { ownWatermark } from '../../render/options/watermark.ts';
import { deliveryIdOf } from '../../work/callbacks/delivery.ts';
import { attemptsOf, queuedMs } from '../../work/jobs/attempts.ts';
import type { FailedAttempt, Job, JobInput } from '../../work/jobs/job.ts';
import { jobRecord } from '../../work/jobs/job-record.ts';
import type { ApiDeps } from '../api-deps.ts';
import type { AccountCaller } from '../request/authenticate-bearer.ts';
import { keyFieldsOf } from './key-fields.ts';

/** The rows of renders in lists for their account. */
export async function renderBodies(jobs: readonly Job[], { keys, clock }: Pick<ApiDeps, 'keys' | 'clock'>) {
  const keyFields = await keyFieldsOf(jobs, { keys });
  return jobs.map((job) => ({
    ...jobRecord(job),
    ...keyFields(job),
    format: job.format,
    templateId: job.templateId ?? null,
    retryOf: job.retryOf ?? null,
    queuedMs: queuedMs(job, clock.now()),
  }));
}

/** The detailed response about one render. */
export async function renderDetail(job: Job, { plan }: AccountCaller, deps: ApiDeps) {
  const { renders } = deps;
  const [bodies, inputAvailable, callback, standing] = await Promise.all([
    renderBodies([job], deps),
    renders.hasInput(job),
    job.webhookUrl === undefined ? null : callbackOf(job, deps),
    renders.standing(job),
  ]);
  return {
    ...bodies[0]!,
    attempts: attemptBodies(job),
    inputAvailable,
    callback,
    queue: { ...standing, concurrentRenders: plan.concurrentRenders },
  };
}

/** The attempts of a job, the first one first. */
export function attemptBodies(job: Job) {
  return attemptsOf(job).map(({ startedAt, endedAt, phases, ...attempt }) => ({
    ...attempt,
    startedAt: startedAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    phases: wholeMs(phases),
  }));
}

/** The input of a job as it was requested, with the secrets in its options masked. */
export function inputBody({ source, options }: JobInput, { test }: Pick<Job, 'test'>) {
  const { mode: _, ...given } = source;
  const { watermark: printed, ...others } = options;
  const watermark = test ? ownWatermark(printed) : printed;
  return { ...given, options: maskOptions({ ...others, ...(watermark && { watermark }) }) };
}

async function callbackOf(job: Job, { deliveries }: Pick<ApiDeps, 'deliveries'>) {
  const delivery = await deliveries.find(deliveryIdOf(job._id));
  if (delivery === undefined) return null;
  const { _id, url, state, attempts, responseStatus, error } = delivery;
  return { id: _id, url, status: state, attemptCount: attempts, responseStatus, error };
}

function wholeMs(phases: FailedAttempt['phases']) {
  if (phases === null) return null;
  const { page, load, wait, print, finish } = phases;
  return {
    page: Math.round(page),
    load: Math.round(load),
    wait: Math.round(wait),
    print: Math.round(print),
    finish: Math.round(finish),
  };
}
