import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import type { RenderOptions } from '../../render/options/all/render-options.ts';
import { PROTO } from '../../render/options/core/short-list.ts';
import { fillMargins, MAX_MARGIN_BYTES } from '../../tenants/templates/fill-margins.ts';
import { isRawNumber } from '../../tenants/templates/long-integers.ts';
import type { TemplateReader, TemplateVersion } from '../../tenants/templates/template-store.ts';
import { defineInput } from './input-kind.ts';

type Templates = Pick<TemplateReader, 'resolve'>;

/** Levels of nesting: more than real data have. The database supports 100. */
export const MAX_DATA_DEPTH = 64;
/** Bytes of all templates that one batch may name, since they are held in memory during its admission. */
const MAX_BATCH_BYTES = 32 * 1024 * 1024;
/** Time limit for templates, in milliseconds. Most take a few; a slow one must not delay those of others. */
const MAX_RENDER_MS = 10_000;
/** Limit on the HTML from a template, which may be far longer than its source. */
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;

/** A saved template, and the data to fill it in with. The job has its own copy of the template's content. */
export const template = defineInput({
  mode: 'template',
  field: 'templateId',
  fields: {
    templateId: z.uuid().toLowerCase().optional().describe('Input source: a saved template of the account.'),
    templateVersionId: z
      .uuid()
      .toLowerCase()
      .optional()
      .describe('A version of the template; by default its current one.'),
    data: z
      .preprocess(checkData, z.record(z.string(), z.unknown()))
      .optional()
      .describe("Values of the template's variables."),
  },
  stored: {
    templateId: z.uuid().optional(),
    /** The version when the job was accepted. */
    templateVersionId: z.uuid().optional(),
    content: z.string().optional().describe('Of the template, as it was accepted.'),
    data: z.record(z.string(), z.unknown()).optional(),
  },
  async sourceOf({ templateId, templateVersionId, data = {} }, { accountId, templates, dataErrors }) {
    const version = await templates.resolve(accountId, templateId, templateVersionId);
    if (version === undefined) {
      const pinned = templateVersionId === undefined ? '' : ` with a version ${templateVersionId}`;
      return { missing: `There is no template ${templateId}${pinned}` };
    }
    const { _id, content, dataSchema, options } = version;
    const unfit = typeof dataSchema === 'string' ? await dataErrors(dataSchema, data) : [];
    if (unfit.length > 0) return { unfit };
    const source = { mode: 'template', templateId, templateVersionId: _id, content, data } as const;
    return { source, savedOptions: options ?? undefined };
  },
  async documentOf({ content, data }, { templates, options, pdfOf: _, ...call }) {
    const limits = { timeoutMs: Math.min(MAX_RENDER_MS, call.withinMs), maxOutputBytes: MAX_OUTPUT_BYTES };
    const html = await templates.render(content, data, limits, { ...call, ...languageOf(options) });
    return { kind: 'html', html, template: content };
  },
  optionsOf({ data }, options, { templates, options: _, pdfOf: __, ...call }) {
    const limits = { timeoutMs: Math.min(MAX_RENDER_MS, call.withinMs), maxOutputBytes: MAX_MARGIN_BYTES };
    const terms = { ...call, ...languageOf(options) };
    return fillMargins(options, (text) => templates.render(text, data, limits, terms));
  },
  markupOf: ({ content }) => content,
  withMarkup: (source, content) => ({ ...source, content }),
});

/** What a template is rendered by, besides its data. */
function languageOf({ locale, timezone, strictData }: RenderOptions) {
  return { locale, timezone, strictData };
}

/**
 * The templates of one batch. Each is looked up once, however many items name it.
 *
 * @returns templates whose `resolve` rejects with INPUT_TOO_LARGE when all that it has found are too large together.
 */
export function resolvedOnce(templates: Templates): Templates {
  const found = new Map<string, TemplateVersion | undefined>();
  let bytes = 0;
  return {
    async resolve(accountId, templateId, versionId) {
      const key = `${templateId}/${versionId ?? ''}`;
      if (found.has(key)) return found.get(key);
      const version = await templates.resolve(accountId, templateId, versionId);
      found.set(key, version);
      bytes += 2 * (version?.content.length ?? 0) + JSON.stringify(version?.options ?? '').length;
      if (bytes > MAX_BATCH_BYTES)
        throw new PlatenError('INPUT_TOO_LARGE', 'The templates of this batch are too large together.');
      return version;
    },
  };
}

/** Rejects what could not be stored as it is. It checks the data before a record of them loses an entry. */
function checkData(data: unknown, context: z.RefinementCtx): unknown {
  const error = dataErrorOf(data);
  if (error === undefined) return data;
  context.addIssue({ code: 'custom', message: error });
  return z.NEVER;
}

/** Level by level instead of recursively, because the caller chooses the nesting. */
function dataErrorOf(data: unknown): string | undefined {
  let level = [data].filter(isObject);
  for (let depth = 0; depth <= MAX_DATA_DEPTH; depth += 1) {
    if (level.some((each) => Object.hasOwn(each, PROTO))) return `must not hold the name ${PROTO}`;
    const values = level.flatMap((each) => Object.values(each) as unknown[]);
    if (values.includes(Number.POSITIVE_INFINITY) || values.includes(Number.NEGATIVE_INFINITY))
      return 'must not hold a number beyond 1.7976931348623157e308';
    level = values.filter(isObject);
    if (level.length === 0) return undefined;
  }
  return `must not be nested deeper than ${MAX_DATA_DEPTH} levels`;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !isRawNumber(value);
}
