import type { ErrorCode } from '../../infra/errors/registry.ts';
import { safeFileName } from '../../infra/outputs/file-name.ts';
import { PDF_EXTENSION } from '../../infra/outputs/media-type.ts';
import type { PendingAdmission } from '../../infra/overload/pending-admission.ts';
import type { RenderOptions } from '../../render/options/all/render-options.ts';
import { type Caller, NO_KEY } from '../../tenants/accounts/caller.ts';
import type { Plan } from '../../tenants/plans/plan.ts';
import type { JobSource } from '../../work/inputs/inputs.ts';
import { invoiceDataOf, withInvoice } from '../../work/inputs/with-invoice.ts';
import type { IdempotencyLock } from '../../work/jobs/idempotency-store.ts';
import type { Accepted, RenderSubmission } from '../../work/jobs/submission/render-service.ts';
import type { ApiDeps } from '../api-deps.ts';
import { checkSealKeys } from './check-seal-keys.ts';
import { checkUpload, checkWebhook } from './check-webhook.ts';
import type { ConversionRequest } from './conversion-schema.ts';
import { optionsFor } from './effective-options.ts';
import type { RenderRequest } from './render-request-schema.ts';
import { sourceOf } from './render-source.ts';
import { sentPdfOf } from './sent-pdf.ts';

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

/** The errors with which a document may be rejected before it is rendered. */
export const SUBMISSION_ERRORS = [
  'NOT_FOUND',
  'PLAN_LIMIT',
  'INVALID_URL',
  'URL_BLOCKED',
  'UPLOAD_URL_EXPIRED',
  'EINVOICE_INVALID',
  ...WORK_REJECTIONS,
] as const satisfies readonly ErrorCode[];

const optionsPath = () => 'options';
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
 * VALIDATION for options that do not go with those of the template, and for a key that the account does not have; EINVOICE_INVALID; INVALID_URL, URL_BLOCKED or
 * UPLOAD_URL_EXPIRED.
 */
export async function renderSubmissionOf(
  body: RenderRequest,
  caller: Caller,
  deps: ApiDeps,
  invoiceData?: object,
): Promise<RenderSubmission> {
  checkDelivery(body, caller, deps);
  const { source, savedOptions } = await sourceOf(body, caller, deps);
  const options = optionsFor(body, savedOptions, { ...triedBy(caller), checkUrl: deps.checkUrl });
  await checkSealKeys([{ options, path: optionsPath }], caller, deps);
  const invoice = invoiceData ?? invoiceDataOf(source);
  return deliveredAs(body, source, await withInvoice(options, invoice, caller, deps));
}

/**
 * The submission of a conversion that fits its schema.
 *
 * @throws PlatenError NOT_FOUND for a job without a PDF that the caller may read; PLAN_LIMIT for a plan without callbacks;
 * VALIDATION for a key that the account does not have; EINVOICE_INVALID; URL_BLOCKED or UPLOAD_URL_EXPIRED.
 */
export async function conversionSubmissionOf(
  body: ConversionRequest,
  caller: Caller,
  deps: ApiDeps,
): Promise<RenderSubmission> {
  checkDelivery(body, caller, deps);
  const source = await sentPdfOf(body, caller, deps);
  const options = optionsFor(body, undefined, triedBy(caller));
  await checkSealKeys([{ options, path: optionsPath }], caller, deps);
  return deliveredAs(body, source, await withInvoice(options, undefined, caller, deps));
}

/** Whoever renders with a test key, or without a key in the dashboard, wants to know what became of it. */
function triedBy({ mode, apiKeyId }: Caller) {
  return { mode, reports: mode === 'test' || apiKeyId === NO_KEY.apiKeyId };
}

/** The fields that say what becomes of the PDF of a job. */
type Delivery = Pick<RenderRequest, 'output' | 'filename' | 'executionMode' | 'webhookUrl' | 'uploadUrl'>;

function checkDelivery({ webhookUrl, uploadUrl }: Delivery, { plan }: Caller, deps: ApiDeps): void {
  checkWebhook(webhookUrl, plan, deps);
  checkUpload(uploadUrl, plan, deps);
}

function deliveredAs(body: Delivery, source: JobSource, options: RenderOptions): RenderSubmission {
  const { webhookUrl, uploadUrl } = body;
  return {
    source,
    options,
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
