import { type Dispatcher, request } from 'undici';
import type { Clock } from '../../infra/clock.ts';
import { endOfSignedUrl } from '../../infra/egress/signed-url.ts';
import { PDF } from '../../infra/outputs/media-type.ts';
import type { OutputStore } from '../../infra/outputs/output-store.ts';
import type { DeliveredOutputs } from '../jobs/delivered-outputs.ts';
import { type Job, uploadBytes } from '../jobs/job.ts';
import type { FollowUpStep } from '../jobs/job-follow-up.ts';
import type { JobStore } from '../jobs/store/job-store.ts';
import { type Delivery, newDelivery } from './delivery.ts';
import type { AttemptEnd, DeliveryStore } from './delivery-store.ts';
import { type PostOutcome, wordsForFailure } from './post.ts';

/** The response of a store is not used; this much is read so that the connection can be used again. */
const MOST_RESPONSE_BYTES = 16 * 1024;

/** The step that follows the end of jobs: it schedules their uploads. An upload has the id of its job. */
export function uploadJobs({
  uploads,
  clock,
}: {
  readonly uploads: DeliveryStore;
  readonly clock: Clock;
}): FollowUpStep {
  return {
    name: 'schedule its upload',
    async run(jobs) {
      const scheduled = jobs.map((job) => uploadOf(job, clock.now())).filter((one) => one !== undefined);
      if (scheduled.length > 0) await uploads.add(scheduled);
    },
  };
}

function uploadOf(job: Job, now: Date): Delivery | undefined {
  const { _id: jobId, uploadUrl, output, state, completedAt, updatedAt, keepsNothing } = job;
  if (uploadUrl === undefined || output === null || state !== 'completed') return undefined;
  const statusUrl = `/v1/pdf/jobs/${jobId}`;
  const payload = {
    ...({ event: 'render.completed', jobId, status: state, statusUrl } as const),
    completedAt: (completedAt ?? updatedAt).toISOString(),
  };
  const { key, size } = output;
  return {
    ...newDelivery(job, uploadUrl, payload, now),
    _id: jobId,
    upload: { key, size },
    ...(keepsNothing && { keepsNothing }),
    bytes: uploadBytes(uploadUrl),
  };
}

/**
 * Puts the PDF of an upload to its address, over `dispatcher`, which decides what may be reached. Redirects are not
 * followed. Never fails.
 *
 * @param timeoutMs for all of it: lookup, connection, request and response.
 */
export function createPut(
  dispatcher: Dispatcher,
  { outputs, clock }: { readonly outputs: OutputStore; readonly clock: Clock },
  timeoutMs: number,
): (delivery: Delivery, signal: AbortSignal) => Promise<PostOutcome> {
  return async ({ url, upload }, signal) => {
    const ends = endOfSignedUrl(url);
    if (ends !== undefined && ends <= clock.now())
      return failedForGood(`The address was valid until ${ends.toISOString()}.`);
    const stored = upload && (await outputs.get(upload.key).catch(unreadable));
    if (stored === null) return { status: null, error: 'The PDF could not be read.' };
    if (stored === undefined) return failedForGood('The PDF is no longer kept.');
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      const response = await request(url, {
        method: 'PUT',
        headers: {
          'content-type': PDF,
          'content-length': String(stored.size),
          'user-agent': 'Platen-Uploads/1',
          // Azure wants to know what is made.
          ...(new URL(url).hostname.endsWith('.blob.core.windows.net') && { 'x-ms-blob-type': 'BlockBlob' }),
        },
        body: stored.stream,
        dispatcher,
        signal: deadline,
      });
      // The status is enough, whatever comes after it.
      await response.body.dump({ limit: MOST_RESPONSE_BYTES, signal: deadline }).catch(() => undefined);
      return { status: response.statusCode, retryAfter: headerOf(response.headers['retry-after']) };
    } catch (error) {
      return { status: null, error: wordsForFailure(error, timeoutMs) };
    } finally {
      stored.stream.destroy();
    }
  };
}

/** Deletes the PDF of an upload that has ended, if it is not to be kept; to be called after each attempt. */
export function deleteUploaded({
  store,
  delivered,
}: {
  readonly store: Pick<JobStore, 'find'>;
  readonly delivered: Pick<DeliveredOutputs, 'delete'>;
}): (upload: Delivery, end: Pick<AttemptEnd, 'state'>) => Promise<void> {
  return async ({ _id: jobId, accountId, keepsNothing }, { state }) => {
    if (!keepsNothing || state === 'pending') return;
    const job = await store.find(accountId, jobId);
    if (job !== undefined) await delivered.delete(job);
  };
}

function unreadable(): null {
  return null;
}

function failedForGood(error: string): PostOutcome {
  return { status: null, error, final: true };
}

function headerOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
