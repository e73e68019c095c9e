import type { ErrorCode } from '../../infra/errors/registry.ts';
import { safeFileName } from '../../infra/outputs/file-name.ts';
import { PDF_EXTENSION } from '../../infra/outputs/media-type.ts';
import type { PendingAdmission } from '../../infra/overload/pending-admission.ts';
import type { Caller } from '../../tenants/accounts/caller.ts';
import type { Plan } from '../../tenants/plans/plan.ts';
import type { IdempotencyLock } from '../../work/jobs/idempotency-store.ts';
import type { Accepted, RenderSubmission } from '../../work/jobs/submission/render-service.ts';
import type { ApiDeps } from '../api-deps.ts';
import { checkUpload, checkWebhook } from './check-webhook.ts';
import { optionsFor } from './effective-options.ts';
import { invoiceDataOf, withInvoice } from './einvoices.ts';
import type { RenderRequest } from './render-request-schema.ts';
import { sourceOf } from './render-source.ts';

/** The errors with which any request for work may be rejected. */
export const WORK_REJECTIONS = [
  'QUOTA_EXCEEDED',
  'TEST_QUOTA_EXCEEDED',
  'OVERAGE_PENDING',
  'STORAGE_FULL',
  'INPUT_TOO_LARGE',
  'IDEMPOTENCY_MISMATCH',
  'IDEMPOTENCY_IN_PROGRESS',
] as const satisfies readonly ErrorCode[];

const DEFAULT_FILE_NAME = `document${PDF_EXTENSION}`;

/** @throws PlatenError while no new work of the plan is accepted. */
export function assertAdmissible(plan: Plan, { admission }: Pick<ApiDeps, 'admission'>): void {
  const rejection = admission(plan);
  if (rejection !== undefined) throw rejection;
}

/**
 * The submission of a request that fits its schema.
 *
 * @param invoiceData what fills in the template of a preview, and is its e-invoice.
 * @throws PlatenError NOT_FOUND for a template that the account does not have; PLAN_LIMIT for a plan without callbacks;
 * VALIDATION for options that do not go with those of the template; EINVOICE_INVALID; INVALID_URL, URL_BLOCKED or
 * UPLOAD_URL_EXPIRED.
 */
export async function renderSubmissionOf(
  body: RenderRequest,
  caller: Caller,
  deps: ApiDeps,
  invoiceData?: object,
): Promise<RenderSubmission> {
  const { webhookUrl, uploadUrl } = body;
  checkWebhook(webhookUrl, caller.plan, deps);
  checkUpload(uploadUrl, caller.plan, deps);
  const { source, savedOptions } = await sourceOf(body, caller, deps);
  const { mode } = caller;
  const options = optionsFor(body, savedOptions, { mode, checkUrl: deps.checkUrl });
  const invoice = invoiceData ?? invoiceDataOf(source);
  return {
    source,
    options: await withInvoice(options, invoice, caller, deps),
    output: body.output,
    fileName: safeFileName(body.filename, DEFAULT_FILE_NAME),
    execution: body.executionMode,
    ...(webhookUrl !== undefined && { webhookUrl }),
    ...(uploadUrl !== undefined && { uploadUrl }),
  };
}

/**
 * Submits a render, or continues what an earlier request with the same key has begun. Notes in the admission queue
 * whether the caller waits for the PDF.
 *
 * @param prepare makes the submission; called only when nothing has been begun.
 * @throws PlatenError while no new work of the plan is accepted; and as `prepare` and `RenderService.submit`.
 */
export async function submitOnce(
  {
    caller,
    execution,
    admission,
  }: { caller: Caller; execution: RenderSubmission['execution']; admission: PendingAdmission },
  deps: ApiDeps,
  lock: IdempotencyLock | undefined,
  prepare: () => Promise<RenderSubmission>,
): Promise<Accepted> {
  if (execution === 'sync') deps.admissionQueue.noteAwaited(caller.accountId);
  else deps.admissionQueue.noteBackground(caller.accountId);
  if (lock?.resumed) {
    const begun = await deps.renders.resume(caller.accountId, lock.workId, execution);
    if (begun !== undefined) return begun;
  }
  assertAdmissible(caller.plan, deps);
  const submission = await prepare();
  lock?.assertHeld();
  const named = lock === undefined ? submission : { ...submission, jobId: lock.workId };
  return await deps.renders.submit(caller, named, admission);
}

/** The response to a render that an account has requested without a key. */
export function acceptedRender(jobId: string, retryOf: string | null) {
  const statusUrl = `/user/renders/${jobId}`;
  return {
    status: 202,
    json: { success: true, jobId, status: 'queued', statusUrl, fileUrl: `${statusUrl}/file`, retryOf },
  } as const;
}
