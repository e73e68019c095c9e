/**
 * Writes what is made from the sources: docs/errors.md, docs/options.md, docs/configuration.md, docs/plans.md,
 * docs/installed-fonts.md, docs/reference/hyphenation.md and docs/openapi.json.
 * With `--check` it writes nothing, names the files that are stale, and exits with 1 if there are any.
 */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { STATUS_CODES } from 'node:http';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { environmentSchema } from '../src/config/environment.ts';
import { API_ROUTES } from '../src/http/app.ts';
import { createApiDocument } from '../src/http/site/api-document.ts';
import { ERRORS, type ErrorCode } from '../src/infra/errors/registry.ts';
import { REMEDIES } from '../src/infra/errors/remedies.ts';
import { IN_ORDER } from '../src/render/options/all/stages.ts';
import type { Option, Stage } from '../src/render/options/core/option.ts';
import { DEFAULT_PLANS, planSchema } from '../src/tenants/plans/plan.ts';
import { FONTS, GENERIC } from './fonts/list.ts';
import { hyphenationPage } from './hyphenation/page.ts';

const ROOT = join(import.meta.dirname, '..');
const DOCS = join(ROOT, 'docs');
const NOTE = '<!-- Made by `make generate`; do not edit. -->';

/** What comes before the options of a stage. */
const STAGE_TITLES: Readonly<Record<Stage, string>> = {
  job: 'The whole render',
  page: 'The page that the document is loaded into',
  load: 'Loading the document',
  wait: 'Waiting before it is printed',
  print: 'Printing',
  finish: 'The printed PDF',
};

const FILES: Record<string, () => string> = {
  'errors.md': errorsPage,
  'configuration.md': configurationPage,
  'options.md': optionsPage,
  'plans.md': plansPage,
  'installed-fonts.md': fontsPage,
  'reference/hyphenation.md': () => `${NOTE}\n\n${hyphenationPage()}`,
  'openapi.json': () => {
    const document = createApiDocument(API_ROUTES, { headerPrefix: defaultHeaderPrefix() });
    return JSON.stringify(document);
  },
};

const stale: string[] = [];
for (const [name, make] of Object.entries(FILES)) {
  const path = join(DOCS, name);
  const wanted = formatted(path, make());
  const present = await readFile(path, 'utf8').catch(() => undefined);
  if (present === wanted) continue;
  stale.push(relative(process.cwd(), path));
  if (!process.argv.includes('--check')) await writeFile(path, wanted);
}
if (stale.length > 0 && process.argv.includes('--check')) {
  console.error(`Stale, run make generate: ${stale.join(', ')}`);
  process.exitCode = 1;
}

/** As the formatter that checks the whole tree wants it. */
function formatted(path: string, text: string): string {
  const biome = join(ROOT, 'node_modules', '.bin', 'biome');
  return execFileSync(process.execPath, [biome, 'format', `--stdin-file-path=${path}`], {
    input: text,
    encoding: 'utf8',
  });
}

function errorsPage(): string {
  const groups = Map.groupBy(Object.keys(ERRORS) as ErrorCode[], (code) => ERRORS[code].status);
  const byStatus = [...groups]
    .toSorted(([a], [b]) => a - b)
    .map(([status, codes]) => {
      return `- ${status} ${STATUS_CODES[status]}: ${codes.map((code) => `[\`${code}\`](#${code})`).join(', ')}\n`;
    });
  return `${NOTE}

# Errors

Every failure has one body:

\`\`\`json
{
  "statusCode": 400,
  "error": "Bad Request",
  "message": ["options.scale: must be at most 2"],
  "code": "VALIDATION",
  "remedy": "Correct each field that \`message\` names …",
  "docsUrl": "https://pdf.example.com/docs/errors#VALIDATION",
  "requestId": "6f0b1a52-6a4e-4bb5-9d0a-0f4c7d5f1f5e"
}
\`\`\`

\`message\` is a text, or a list of texts if the request has several errors. \`remedy\` says what to do about an error with
this code, and \`docsUrl\` leads to its section below. \`jobId\` is present if a job has failed. \`requestId\` is the response's
\`X-Request-Id\`: give it to the operator when you ask for help. The \`error\` of a job's status record has the same codes.

Let a program decide by \`code\` or \`statusCode\`; the texts are for people and may change. Where a section says "Retrying can
help", send the same request with the same \`Idempotency-Key\` again, after as many seconds as \`Retry-After\` says; without that
header, after a random pause that grows with each attempt. [Retries](guide/retries.md) has a program that does so.

${byStatus.join('')}
${Object.keys(ERRORS)
  .map((code) => errorSection(code as ErrorCode))
  .join('\n')}`;
}

/** The anchor is the code as it stands in responses, which the one that is made of a heading is not. */
function errorSection(code: ErrorCode): string {
  const { status, message, attempts, retryable } = ERRORS[code];
  return `## <a id="${code}"></a>${code}

${status} ${STATUS_CODES[status]}. ${message}

**What to do:** ${REMEDIES[code]}

${retrySentences(retryable, attempts)}
`;
}

function retrySentences(retryable: boolean, attempts: number): string {
  const caller = retryable ? 'Retrying can help.' : 'Retrying does not help.';
  const platen =
    attempts === 1
      ? `Platen does not retry it${retryable ? ' by itself' : ''}.`
      : `Platen itself tries the job up to ${attempts} times.`;
  return `${caller} ${platen}`;
}

function configurationPage(): string {
  const { properties = {} } = z.toJSONSchema(environmentSchema, { io: 'input' });
  const rows = Object.entries(properties).map(([name, described]) => {
    const variable = described as z.core.JSONSchema.BaseSchema;
    const meaning = variable.description ?? '';
    return [`\`${name}\``, valuesOf(variable), defaultOf(variable, meaning), meaning];
  });
  return `${NOTE}

# Configuration

Everything is set by environment variables. They are checked at start, and every error is reported at once. An empty
variable counts as not set.

${table(['Variable', 'Values', 'Default', 'Meaning'], rows)}`;
}

function optionsPage(): string {
  const stages = Map.groupBy(IN_ORDER, ({ stage }) => stage);
  const sections = [...stages].map(([stage, options]) => {
    const rows = options.flatMap((option) => optionRows(option));
    return `## ${STAGE_TITLES[stage]}\n\n${table(['Option', 'Values', 'Meaning'], rows)}`;
  });
  return `${NOTE}

# Render options

These are the fields of \`options\`. They work for HTML, URLs and templates, and for each item of a batch. All of them are optional,
and can be combined. If an option is unknown or out of bounds, the response is 400 with \`VALIDATION\`, and names all such options.
A [template](guide/templates.md#save-its-header-footer-and-options-with-it) may have options of its own; options of a render have
precedence. The sections follow the order of a render. [Adding an option](adding-an-option.md) is for developers.

${sections.join('\n')}`;
}

function optionRows({ name, schema }: Option): string[][] {
  return valueRows(name, z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
}

/** The rows of a value and of its fields; those of the objects of a list are shown once. */
function valueRows(path: string, described: z.core.JSONSchema.BaseSchema): string[][] {
  const { items } = described;
  const [fields, prefix] =
    typeof items === 'object' && !Array.isArray(items)
      ? [items.properties, `${path}[]`]
      : [described.properties, path];
  const rows = Object.entries(fields ?? {}).flatMap(([field, of]) =>
    typeof of === 'boolean' ? [] : valueRows(`${prefix}.${field}`, of),
  );
  return [[`\`${path}\``, boundsOf(described), described.description ?? ''], ...rows];
}

function boundsOf(described: z.core.JSONSchema.BaseSchema): string {
  const { type, minimum, maximum, maxLength, maxItems, items } = described;
  if (described.enum !== undefined) return described.enum.map((value) => `\`${value}\``).join(', ');
  if (type === 'integer' || type === 'number') return `${type}, ${minimum} to ${maximum}`;
  if (type === 'string') return maxLength === undefined ? 'text' : `text, at most ${maxLength} characters`;
  if (type === 'array') {
    const isOfObjects = typeof items === 'object' && 'type' in items && items.type === 'object';
    return `list, at most ${maxItems} ${isOfObjects ? 'objects' : 'texts'}`;
  }
  return String(type);
}

function plansPage(): string {
  const { features, ...fields } = planSchema.shape;
  const described = [
    ...Object.entries(fields),
    ...Object.entries(features.shape).map(([name, schema]) => [`features.${name}`, schema] as const),
  ];
  const plans = Object.values(DEFAULT_PLANS);
  const rows = described.map(([name, schema]) => [
    `\`${name}\``,
    ...plans.map((plan) =>
      shown(name.split('.').reduce<unknown>((value, part) => Reflect.get(Object(value), part), plan)),
    ),
    schema.description ?? '',
  ]);
  return `${NOTE}

# Plans

The plan of an account sets its limits, its features and its price. These plans are built in:

${table(['Field', ...Object.keys(DEFAULT_PLANS), 'Meaning'], rows)}
\`PLATEN_PLANS_FILE\` names a YAML or JSON file that overrides single fields and adds plans of any name:

\`\`\`yaml
plans:
  free: { monthlyRenders: 50 }
  gold: { concurrentRenders: 20, features: { callbacks: true }, poolRef: large }
pools:
  large: { slotsPerWorker: 8 }
\`\`\`

A new plan inherits from \`free\` (as changed by the file) every field that it does not set. \`pools\` may say how many renders
each worker of a pool runs at the same time. A change of the file takes effect in every process within two seconds. With an
invalid file a process does not start. If the file becomes invalid later, that is logged, the metric
\`platen_plans_file_valid\` becomes 0, and the plans stay as they were. If an account's plan was deleted, the limits of \`free\`
apply until the plan exists again or the account has another one.

In a cluster, plans are resources (\`RenderPlan\`), which the controller copies into the database. With \`PLATEN_PLANS_FILE\` a
process uses only the file. \`platen standalone\` uses no resources.
`;
}

function fontsPage(): string {
  const rows = FONTS.map(({ family, covers, replaces = [], licence }) => {
    const generic = Object.keys(GENERIC).filter((name) => GENERIC[name] === family);
    return [family, covers, generic.map((name) => `\`${name}\``).join(', '), replaces.join(', '), licence];
  });
  return `${NOTE}

# Installed fonts

Every installation prints with these fonts and with no other fonts of the machine, with \`make run\` as well as in the image. [Fonts](guide/fonts.md) describes how a document uses them, and [the image](image.md#fonts) how an operator adds
others.

${table(['Family', 'Characters', 'Generic families', 'In place of', 'Licence'], rows)}
The families of the fourth column are used themselves where an operator has installed them. The families that replace Arial,
Times New Roman, Courier New, Calibri, Cambria and Georgia have characters of the same widths, so that lines break at the
same words. A character that no font of its element has is taken from the first family of this table that has it, in the
order of the table; the \`lang\` of a text in Chinese, Japanese or Korean decides which of those families comes first.
`;
}

function shown(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : '–';
  return typeof value === 'number' ? value.toLocaleString('en') : '–';
}

function valuesOf(variable: z.core.JSONSchema.BaseSchema): string {
  if (variable.enum !== undefined) return variable.enum.map((value) => `\`${value}\``).join(', ');
  if (variable.type === 'integer') return `${variable.minimum} to ${variable.maximum}`;
  return 'text';
}

/** A default that depends on the machine or the role is told in the meaning instead. */
function defaultOf(variable: z.core.JSONSchema.BaseSchema, meaning: string): string {
  const value = variable.default;
  if (value === undefined || meaning.includes('Default') || (Array.isArray(value) && value.length === 0)) {
    return '';
  }
  return `\`${value}\``;
}

function defaultHeaderPrefix(): string {
  return environmentSchema.shape.PLATEN_HEADER_PREFIX.parse(undefined);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('');
}
