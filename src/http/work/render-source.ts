import { PlatenError } from '../../infra/errors/registry.ts';
import type { Caller } from '../../tenants/accounts/caller.ts';
import type { TemplateEditor } from '../../tenants/templates/template-editor.ts';
import type { Found, IntakeContext, Missing, Unfit } from '../../work/inputs/input-kind.ts';
import { INPUT_KINDS, type JobSource, type RequestedInput } from '../../work/inputs/inputs.ts';
import { resolvedOnce } from '../../work/inputs/template.ts';
import { MAX_ERRORS, quoted } from '../request/field-errors.ts';

type SourceDeps = Pick<IntakeContext, 'checkUrl' | 'templates'> & {
  readonly templateEditor: Pick<TemplateEditor, 'dataErrors'>;
};

/** Milliseconds in which the data of one request are compared with schemas, those of all items of a batch together. */
const DATA_CHECKS_MS = 20_000;

/**
 * @throws PlatenError NOT_FOUND for a template that the account does not have; VALIDATION for data that do not fit the
 * schema of their template; the error of `checkUrl`.
 */
export async function sourceOf(
  request: RequestedInput,
  caller: Pick<Caller, 'accountId'>,
  { checkUrl, ...deps }: SourceDeps,
): Promise<Found<JobSource>> {
  const found = await findSource(request, { ...intakeOf(caller, deps), checkUrl });
  if ('missing' in found) throw new PlatenError('NOT_FOUND', `${found.missing}.`);
  if ('unfit' in found) throw new PlatenError('VALIDATION', found.unfit[0], { details: found.unfit });
  return found;
}

/**
 * The sources of the items of a batch. A template is looked up once, however many items name it. URLs are checked by
 * the renders: a blocked one fails its item, not the batch.
 *
 * @throws PlatenError NOT_FOUND, naming all items whose template the account does not have; else VALIDATION, naming all
 * whose data do not fit; INPUT_TOO_LARGE.
 */
export async function itemSources(
  items: readonly (RequestedInput & { readonly id: string })[],
  caller: Pick<Caller, 'accountId'>,
  deps: SourceDeps,
): Promise<Found<JobSource>[]> {
  const context = { ...intakeOf(caller, deps), templates: resolvedOnce(deps.templates) };
  const sources: Found<JobSource>[] = [];
  const missing: string[] = [];
  const unfit: string[] = [];
  for (const [index, item] of items.entries()) {
    const found = await findSource(item, context);
    const name = `items[${index}] (${quoted(item.id)})`;
    if ('missing' in found) missing.push(`${name}: ${found.missing}`);
    else if ('unfit' in found) unfit.push(...found.unfit.map((error) => `${name}.${error}`));
    else sources.push(found);
    // More errors than are listed need not be looked for.
    if (missing.length + unfit.length > MAX_ERRORS) break;
  }
  if (missing.length > 0) throw namingAll('NOT_FOUND', missing);
  if (unfit.length > 0) throw namingAll('VALIDATION', unfit);
  return sources;
}

function namingAll(code: 'NOT_FOUND' | 'VALIDATION', errors: readonly string[]): PlatenError {
  const listed = code === 'VALIDATION' || errors.length > 1;
  return new PlatenError(code, errors[0], listed ? { details: errors.slice(0, MAX_ERRORS) } : {});
}

/** What is used to make the sources of one request. */
function intakeOf(
  { accountId }: Pick<Caller, 'accountId'>,
  { templates, templateEditor }: Omit<SourceDeps, 'checkUrl'>,
): IntakeContext {
  const deadline = performance.now() + DATA_CHECKS_MS;
  return {
    accountId,
    templates,
    dataErrors: (dataSchema, data) =>
      templateEditor.dataErrors(accountId, dataSchema, data, Math.max(1, deadline - performance.now())),
  };
}

/** The schema's rules (`inputErrors`) have made sure that the request has the field of exactly one kind. */
async function findSource(
  request: RequestedInput,
  context: IntakeContext,
): Promise<Found<JobSource> | Missing | Unfit> {
  const kind = INPUT_KINDS.find(({ field }) => request[field] !== undefined)!;
  return await kind.sourceOf(request, context);
}
