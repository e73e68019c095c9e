import type { Caller } from '../accounts/caller.ts';
import { PlatenError } from '../errors/registry.ts';
import type { JobSource } from '../jobs/job.ts';
import type { RenderOptions } from '../jobs/render-options.ts';
import type { TemplateVersion } from '../templates/template-store.ts';
import type { ApiParts } from './api-parts.ts';
import { MAX_FAULTS } from './faults.ts';
import type { RenderRequest } from './schemas/render-request.ts';

/** What is to be rendered, as a checked request has it. */
type RequestedSource = Pick<RenderRequest, 'html' | 'url' | 'templateId' | 'templateVersionId' | 'data'>;

/** What renders of test keys carry, whatever their options say. */
const TEST_WATERMARK = { text: 'TEST' };
/** Bytes of all templates that one batch may name: they are held in memory while it is let in. */
const MAX_TEMPLATE_BYTES = 32 * 1024 * 1024;

/** @throws PlatenError NOT_FOUND for a template that the account does not have; what the URL is refused with. */
export async function sourceOf(
  request: RequestedSource,
  caller: Caller,
  parts: Pick<ApiParts, 'checkUrl' | 'templates'>,
): Promise<JobSource> {
  if (request.html !== undefined) return { mode: 'html', html: request.html };
  if (request.url !== undefined) {
    parts.checkUrl?.(request.url);
    return { mode: 'url', url: request.url };
  }
  const version = await versionOf(request, caller, parts);
  if (version === undefined) throw new PlatenError('NOT_FOUND', `${unknownTemplate(request)}.`);
  return templateSource(request, version);
}

/**
 * The sources of the items of a batch. A template that many of them name is looked up once. An address that may not be
 * reached is for the render to find out: it fails that item, not the batch.
 *
 * @throws PlatenError NOT_FOUND, naming all items whose template the account does not have; INPUT_TOO_LARGE.
 */
export async function itemSources(
  items: readonly (RequestedSource & { readonly id: string })[],
  caller: Caller,
  parts: Pick<ApiParts, 'templates'>,
): Promise<JobSource[]> {
  const versions = new Map<string, TemplateVersion | undefined>();
  let bytes = 0;
  for (const item of items) {
    const key = keyOf(item);
    if (item.templateId === undefined || versions.has(key)) continue;
    const version = await versionOf(item, caller, parts);
    versions.set(key, version);
    bytes += 2 * (version?.content.length ?? 0);
    if (bytes > MAX_TEMPLATE_BYTES)
      throw new PlatenError('INPUT_TOO_LARGE', 'The templates of this batch are too large together.');
  }
  const faults: string[] = [];
  const sources = items.map((item, index): JobSource => {
    if (item.html !== undefined) return { mode: 'html', html: item.html };
    if (item.url !== undefined) return { mode: 'url', url: item.url };
    const version = versions.get(keyOf(item));
    if (version !== undefined) return templateSource(item, version);
    faults.push(`items[${index}] (${JSON.stringify(item.id.slice(0, 64))}): ${unknownTemplate(item)}`);
    return { mode: 'html', html: '' };
  });
  if (faults.length > 0)
    throw new PlatenError(
      'NOT_FOUND',
      faults[0],
      faults.length > 1 ? { details: faults.slice(0, MAX_FAULTS) } : {},
    );
  return sources;
}

/** A render's options, with what its key adds to them. */
export function optionsFor({ options }: Pick<RenderRequest, 'options'>, { mode }: Caller): RenderOptions {
  return mode === 'test' ? { ...options, watermark: TEST_WATERMARK } : options;
}

function versionOf(
  { templateId = '', templateVersionId }: RequestedSource,
  { accountId }: Caller,
  { templates }: Pick<ApiParts, 'templates'>,
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
