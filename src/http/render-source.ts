import type { Caller } from '../accounts/caller.ts';
import { PlatenError } from '../errors/registry.ts';
import type { IntakeContext, Missing } from '../inputs/input-kind.ts';
import { INPUT_KINDS, type JobSource, type RequestedInput } from '../inputs/inputs.ts';
import { resolvedOnce } from '../inputs/template.ts';
import type { RenderOptions } from '../options/core/render-options.ts';
import { MAX_ERRORS } from './field-errors.ts';
import type { RenderRequest } from './schemas/render-request.ts';

/** The watermark of renders with test keys, whatever their options are. */
const TEST_WATERMARK = { text: 'TEST' };

/** @throws PlatenError NOT_FOUND for a template that the account does not have; the error of `checkUrl`. */
export async function sourceOf(
  request: RequestedInput,
  { accountId }: Pick<Caller, 'accountId'>,
  { checkUrl, templates }: Pick<IntakeContext, 'checkUrl' | 'templates'>,
): Promise<JobSource> {
  const source = await findSource(request, { accountId, checkUrl, templates });
  if ('missing' in source) throw new PlatenError('NOT_FOUND', `${source.missing}.`);
  return source;
}

/**
 * The sources of the items of a batch. A template is looked up once, however many items name it. URLs are checked by
 * the renders: a blocked one fails its item, not the batch.
 *
 * @throws PlatenError NOT_FOUND, naming all items whose template the account does not have; INPUT_TOO_LARGE.
 */
export async function itemSources(
  items: readonly (RequestedInput & { readonly id: string })[],
  { accountId }: Pick<Caller, 'accountId'>,
  { templates }: Pick<IntakeContext, 'templates'>,
): Promise<JobSource[]> {
  const context = { accountId, templates: resolvedOnce(templates) };
  const sources: JobSource[] = [];
  const errors: string[] = [];
  for (const [index, item] of items.entries()) {
    const source = await findSource(item, context);
    if (!('missing' in source)) sources.push(source);
    else errors.push(`items[${index}] (${JSON.stringify(item.id.slice(0, 64))}): ${source.missing}`);
  }
  if (errors.length > 0)
    throw new PlatenError(
      'NOT_FOUND',
      errors[0],
      errors.length > 1 ? { details: errors.slice(0, MAX_ERRORS) } : {},
    );
  return sources;
}

/**
 * The options of a render, with `report`, and with the watermark of a test key.
 *
 * @param path of the options in the body, for errors.
 * @throws PlatenError the error of `checkUrl` for `baseUrl`.
 */
export function optionsFor(
  { options, report }: Pick<RenderRequest, 'options' | 'report'>,
  { mode }: Caller,
  { checkUrl }: Pick<IntakeContext, 'checkUrl'>,
  path = 'options',
): RenderOptions {
  if (options.baseUrl !== undefined) checkUrl?.(options.baseUrl, `${path}.baseUrl`);
  const all = report === undefined ? options : { ...options, report };
  return mode === 'test' ? { ...all, watermark: TEST_WATERMARK } : all;
}

/** The schema's rules (`inputErrors`) have made sure that the request has the field of exactly one kind. */
async function findSource(request: RequestedInput, context: IntakeContext): Promise<JobSource | Missing> {
  const kind = INPUT_KINDS.find(({ field }) => request[field] !== undefined)!;
  return await kind.sourceOf(request, context);
}
