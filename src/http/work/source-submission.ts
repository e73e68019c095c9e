import { PlatenError } from '../../infra/errors/registry.ts';
import type { Caller } from '../../tenants/accounts/caller.ts';
import type { SourceSubmission } from '../../work/batches/source/source-admission.ts';
import type { ApiDeps } from '../api-deps.ts';
import type { BatchRequest } from './batch-schema.ts';
import { checkSealKeys } from './check-seal-keys.ts';
import { checkUpload } from './check-webhook.ts';
import { optionsFor } from './effective-options.ts';

const OPTIONS = 'source.options';

/**
 * The submission of a batch whose items are the rows of a file.
 *
 * @throws PlatenError NOT_FOUND for a template that the account does not have; PLAN_LIMIT; VALIDATION for options that do not
 * go with those of the template, or with a file; INVALID_URL or URL_BLOCKED.
 */
export async function sourceSubmissionOf(
  body: BatchRequest & { readonly source: NonNullable<BatchRequest['source']> },
  caller: Caller,
  deps: ApiDeps,
  batchId: string,
): Promise<SourceSubmission> {
  const { source, proof } = body;
  const { url, upload, format, delimiter, templateId, idColumn, dataField, uploadUrl, uploadUrlColumn } =
    source;
  const { accountId, mode, plan } = caller;
  if (url !== undefined) deps.checkUrl?.(url, 'source.url');
  checkUploads(source, caller, deps);
  const version = await deps.templates.resolve(accountId, templateId, source.templateVersionId);
  if (version === undefined) {
    const pinned =
      source.templateVersionId === undefined ? '' : ` with a version ${source.templateVersionId}`;
    throw new PlatenError('NOT_FOUND', `source.templateId: there is no template ${templateId}${pinned}.`);
  }
  const options = optionsFor(
    source,
    version.options ?? undefined,
    { mode, checkUrl: deps.checkUrl },
    OPTIONS,
  );
  const { einvoice } = options;
  if (einvoice?.xml !== undefined || einvoice?.data !== undefined)
    throw invalid(
      `${OPTIONS}.einvoice: must have neither xml nor data, since each row is an invoice of its own`,
    );
  if ((options.timeoutMs ?? 0) > plan.maxTimeoutMs)
    throw new PlatenError(
      'PLAN_LIMIT',
      `${OPTIONS}.timeoutMs: the plan allows at most ${plan.maxTimeoutMs}.`,
    );
  await checkSealKeys([{ options, path: () => OPTIONS }], caller, deps);
  const { _id: templateVersionId, content, dataSchema } = version;
  return {
    batchId,
    order: {
      ...{ format, templateId, templateVersionId },
      ...(url !== undefined && { url }),
      ...(delimiter !== undefined && { delimiter }),
      ...(idColumn !== undefined && { idColumn }),
      ...(dataField !== undefined && { dataField }),
      ...(uploadUrl !== undefined && { uploadUrl }),
      ...(uploadUrlColumn !== undefined && { uploadUrlColumn }),
    },
    ...(upload !== undefined && { upload }),
    content,
    ...(typeof dataSchema === 'string' && { schema: dataSchema }),
    options,
    ...(proof !== undefined && { proof }),
    notes: body.notes ?? '',
    metadata: body.metadata ?? {},
    webhookUrl: body.webhookUrl ?? null,
    retentionHours: body.expiresInHours ?? plan.retentionHours,
  };
}

/** @throws PlatenError as `checkUpload`, for the address of the first row; those of all rows are checked when they are read. */
function checkUploads(
  { uploadUrl, uploadUrlColumn }: NonNullable<BatchRequest['source']>,
  { plan }: Caller,
  deps: ApiDeps,
): void {
  if (uploadUrlColumn !== undefined && !plan.features.callbacks)
    throw new PlatenError('PLAN_LIMIT', 'source.uploadUrlColumn: the plan has no uploads.');
  checkUpload(uploadUrl?.replaceAll(/\{(batchId|row|id)\}/g, '1'), plan, deps, 'source.uploadUrl');
}

function invalid(error: string): PlatenError {
  return new PlatenError('VALIDATION', error, { details: [error] });
}
