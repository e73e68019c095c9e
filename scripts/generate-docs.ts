/**
 * Writes what is made from the sources: docs/errors.md, docs/options.md, docs/configuration.md, docs/plans.md,
 * docs/installed-fonts.md, docs/reference/hyphenation.md, docs/reference/einvoice-data.md and docs/openapi.json.
 * With `--check` it writes nothing, names the files that are stale, and exits with 1 if there are any.
 */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { STATUS_CODES } from 'node:http';
import { join, relative } from 'node:path';
import { environmentSchema } from '../src/config/environment.ts';
import { API_ROUTES } from '../src/http/app.ts';
import { createApiDocument } from '../src/http/site/api-document.ts';
import { ERRORS, type ErrorCode } from '../src/infra/errors/registry.ts';
import { REMEDIES } from '../src/infra/errors/remedies.ts';
import { configurationPage } from './docs-pages/configuration-page.ts';
import { einvoicePage } from './docs-pages/einvoice-page.ts';
import { table } from './docs-pages/markdown.ts';
import { optionsPage } from './docs-pages/options-page.ts';
import { plansPage } from './docs-pages/plans-page.ts';
import { FONTS, GENERIC } from './fonts/list.ts';
import { hyphenationPage } from './hyphenation/page.ts';

const ROOT = join(import.meta.dirname, '..');
const DOCS = join(ROOT, 'docs');
const NOTE = '<!-- Made by `make generate`; do not edit. -->';

const FILES: Record<string, () => string> = {
  'errors.md': errorsPage,
  'configuration.md': () => configurationPage(NOTE),
  'options.md': () => optionsPage(NOTE),
  'plans.md': () => plansPage(NOTE),
  'installed-fonts.md': fontsPage,
  'reference/hyphenation.md': () => `${NOTE}\n\n${hyphenationPage()}`,
  'reference/einvoice-data.md': () => einvoicePage(NOTE),
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
      const name = `${status} ${STATUS_CODES[status]}`;
      const links = codes.map((code) => `[\`${code}\`](#${code})`).join(', ');
      return {
        link: `- ${name}: ${links}\n`,
        section: `## ${name}\n\n${codes.map(errorSection).join('\n')}`,
      };
    });
  return `${NOTE}

# Errors

Each error has a code, and this page says what to do about it. Every failure has one body:

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

${byStatus.map(({ link }) => link).join('')}
${byStatus.map(({ section }) => section).join('\n')}`;
}

/** The anchor is the code as it stands in responses, which the one that is made of a heading is not. */
function errorSection(code: ErrorCode): string {
  const { status, message, attempts, retryable } = ERRORS[code];
  return `### <a id="${code}"></a>${code}

${message}

**What to do:** ${REMEDIES[code]}

Status ${status}. ${retrySentences(retryable, attempts)}
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

function defaultHeaderPrefix(): string {
  return environmentSchema.shape.PLATEN_HEADER_PREFIX.parse(undefined);
}
