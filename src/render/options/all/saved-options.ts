import { ZodObject } from 'zod';
import { ALL_OPTIONS, type RenderOptions, renderOptionsSchema } from './render-options.ts';

/** Options of which each chooses the paper: a request that has one of them chooses it alone. */
const PAPER = ['format', 'width', 'height'] as const;

/**
 * Options whose values are objects of optional fields, without secrets, which are never saved. A request adds its fields to
 * those that are saved, so that it may have the title alone where a template has the author.
 */
const MERGED = ALL_OPTIONS.filter(
  ({ schema, mask }) =>
    mask === undefined &&
    schema instanceof ZodObject &&
    Object.values((schema as ZodObject).shape).every((field) => field.safeParse(undefined).success),
).map(({ name }) => name);

/** Options that are secrets, as passwords in headers are. */
const SECRET = ALL_OPTIONS.filter(({ mask }) => mask !== undefined).map(({ name }) => name);

/**
 * The options that a template may have. They are kept for as long as its versions, and shown to whoever may read it, so
 * secrets are rejected, and invoices, which are of one render.
 */
export const savedOptionsSchema = renderOptionsSchema.nullable().check(({ value, issues }) => {
  for (const name of SECRET) {
    if (value === null || !Object.hasOwn(value, name)) continue;
    const message = 'must not be saved, since its values are secrets: send it with each render';
    issues.push({ code: 'custom', input: value, path: [name], message });
  }
  const { xml, data } = value?.einvoice ?? {};
  if (xml === undefined && data === undefined) return;
  const message =
    'must be saved without xml and data, which are of one render: the data of each render are the invoice';
  issues.push({ code: 'custom', input: value, path: ['einvoice'], message });
});

/**
 * The options of a render: those of its request, and those saved options about which the request says nothing.
 *
 * @param saved as checked by `savedOptionsSchema`.
 */
export function withSaved(requested: RenderOptions, saved: RenderOptions): RenderOptions {
  const kept: Record<string, unknown> = { ...saved };
  const given: Readonly<Record<string, unknown>> = requested;
  if (PAPER.some((name) => given[name] !== undefined)) for (const name of PAPER) delete kept[name];
  const merged = MERGED.flatMap((name) => {
    const [own, base] = [given[name], kept[name]];
    return own === undefined || base === undefined ? [] : [[name, Object.assign({}, base, own)]];
  });
  return { ...kept, ...given, ...(Object.fromEntries(merged) as RenderOptions) };
}

/** @returns an error for each rule between options that does not hold, with the path of its option. */
export function brokenRules(options: RenderOptions): string[] {
  return ALL_OPTIONS.flatMap(({ name, rules = [] }) =>
    rules.filter(({ holds }) => !holds({ ...options })).map(({ error }) => `${name}: ${error}`),
  );
}
