import type { Caller } from '../accounts/caller.ts';
import { PlatenError } from '../errors/registry.ts';
import type { JobSource } from '../jobs/job.ts';
import type { RenderOptions } from '../options/core/render-options.ts';
import type { TemplateVersion } from '../templates/template-store.ts';
import type { ApiDeps } from './api-deps.ts';
import { MAX_ERRORS } from './field-errors.ts';
import type { RenderRequest } from './schemas/render-request.ts';

/** The input fields of a checked request. */
type RequestedSource = Pick<RenderRequest, 'html' | 'url' | 'templateId' | 'templateVersionId' | 'data'>;

/** The watermark of renders with test keys, whatever their options are. */
const TEST_WATERMARK = { text: 'TEST' };
/** Bytes of all templates that one batch may name, since they are held in memory during its admission. */
const MAX_TEMPLATE_BYTES = 32 * 1024 * 1024;

/** @throws PlatenError NOT_FOUND for a template that the account does not have; the error of `checkUrl`. */
export async function sourceOf(
  request: RequestedSource,
  caller: Caller,
  deps: Pick<ApiDeps, 'checkUrl' | 'templates'>,
): Promise<JobSource> {
  if (request.html !== undefined) return { mode: 'html', html: request.html };
  if (request.url !== undefined) {
    deps.checkUrl?.(request.url);
    return { mode: 'url', url: request.url };
  }
  const version = await versionOf(request, caller, deps);
  if (version === undefined) throw new PlatenError('NOT_FOUND', `${unknownTemplate(request)}.`);
  return templateSource(request, version);
}

/**
 * The sources of the items of a batch. A template is looked up once, however many items name it. URLs are checked by
 * the renders: a blocked one fails its item, not the batch.
 *
 * @throws PlatenError NOT_FOUND, naming all items whose template the account does not have; INPUT_TOO_LARGE.
 */
export async function itemSources(
  items: readonly (RequestedSource & { readonly id: string })[],
  caller: Caller,
  deps: Pick<ApiDeps, 'templates'>,
): Promise<JobSource[]> {
  const versions = new Map<string, TemplateVersion | undefined>();
  let bytes = 0;
  for (const item of items) {
    const key = keyOf(item);
    if (item.templateId === undefined || versions.has(key)) continue;
    const version = await versionOf(item, caller, deps);
    versions.set(key, version);
    bytes += 2 * (version?.content.length ?? 0);
    if (bytes > MAX_TEMPLATE_BYTES)
      throw new PlatenError('INPUT_TOO_LARGE', 'The templates of this batch are too large together.');
  }
  const errors: string[] = [];
  const sources = items.map((item, index): JobSource => {
    if (item.html !== undefined) return { mode: 'html', html: item.html };
    if (item.url !== undefined) return { mode: 'url', url: item.url };
    const version = versions.get(keyOf(item));
    if (version !== undefined) return templateSource(item, version);
    errors.push(`items[${index}] (${JSON.stringify(item.id.slice(0, 64))}): ${unknownTemplate(item)}`);
    return { mode: 'html', html: '' };
  });
  if (errors.length > 0)
    throw new PlatenError(
      'NOT_FOUND',
      errors[0],
      errors.length > 1 ? { details: errors.slice(0, MAX_ERRORS) } : {},
    );
  return sources;
}

/** The options of a render, with `report`, and with the watermark of a test key. */
export function optionsFor(
  { options, report }: Pick<RenderRequest, 'options' | 'report'>,
  { mode }: Caller,
): RenderOptions {
  const all = report === undefined ? options : { ...options, report };
  return mode === 'test' ? { ...all, watermark: TEST_WATERMARK } : all;
}

function versionOf(
  { templateId = '', templateVersionId }: RequestedSource,
  { accountId }: Caller,
  { templates }: Pick<ApiDeps, 'templates'>,
): Promise<TemplateVersion | undefined> {
  return templates.resolve(accountId, templateId, templateVersionId);
}

function templateSource(
  { templateId = '', data = {} }: RequestedSource,
  { _id, content }: TemplateVersion,
): JobSource {
  return { mode: 'template', templateId, templateVersionId: _id, content, data };
}

function keyOf({ templateId, templateVersionId }: RequestedSource): string {
  return `${templateId}/${templateVersionId ?? ''}`;
}

function unknownTemplate({ templateId = '', templateVersionId }: RequestedSource): string {
  const what = templateVersionId === undefined ? '' : ` with a version ${templateVersionId}`;
  return `There is no template ${templateId}${what}`;
}
