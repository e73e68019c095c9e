import { fieldsOf, kindOf } from './api-fields.ts';
import {
  type OpenApiContent,
  type OpenApiDocument,
  type OpenApiOperation,
  type Operation,
  operationsOf,
} from './api-operations.ts';
import type { DocsGroup, DocsPage } from './docs-page.ts';

const FILE = 'docs/openapi.json';
const OVERVIEW = 'api';
/** What the examples send requests to: a service that `make run` has started. */
const EXAMPLE_ADDRESS = 'http://localhost:8080';
/** Longer examples of a body are written in several lines. */
const ONE_LINE = 70;

/** The reference of the API: an overview, and a page for each operation in the groups of its tags. */
export function referenceGroups(document: OpenApiDocument): DocsGroup[] {
  const operations = operationsOf(document);
  const within = 'API reference';
  const groups = document.tags.map(({ name }) => ({
    label: name,
    within,
    collapsed: true,
    pages: operations
      .filter(({ declared }) => declared.tags.includes(name))
      .map((operation) => operationPage(operation, document)),
  }));
  return [{ label: within, collapsed: false, pages: [overview(document, operations)] }, ...groups];
}

function overview(document: OpenApiDocument, operations: readonly Operation[]): DocsPage {
  const lists = document.tags.map(({ name, description }) => {
    const lines = operations
      .filter(({ declared }) => declared.tags.includes(name))
      .map((each) => `- [${each.declared.summary}](/docs/${each.slug}): \`${each.method} ${each.path}\`\n`);
    return `## ${name}\n\n${description}\n\n${lines.join('')}`;
  });
  const schemes = Object.entries(document.components.securitySchemes);
  const description = 'The base address, how to get a key, and every operation of the HTTP interface.';
  return {
    ...{ file: FILE, slug: OVERVIEW, title: 'API overview', description },
    body: `The base address is that of your installation: \`${EXAMPLE_ADDRESS}\` after \`make run\`, or what your operator names, such
as \`https://pdf.example.com\`. Every path below follows it. Bodies are JSON in UTF-8; times are UTC as RFC 3339 has them.

\`make run\` prints a first API key and keeps it in \`data/first-api-key\`. Everywhere else you get one in the
[dashboard](/docs/guide/dashboard) or by [two requests](/docs/guide/keys). A first request:

\`\`\`sh
KEY=$(cat data/first-api-key)
curl --fail-with-body ${EXAMPLE_ADDRESS}/v1/pdf -H "X-API-Key: $KEY" -H 'Content-Type: application/json' \\
  -d '{"html": "<h1>Hello</h1>"}' -o hello.pdf
\`\`\`

[Send requests from a form](/docs/api/try), take the document as [OpenAPI 3.1](/openapi.json) for a generator of clients, or
use the client for [TypeScript](/docs/clients/typescript) or [Python](/docs/clients/python).

## Credentials

${schemes.map(([name, scheme]) => `- \`${name}\`: ${scheme.description}\n`).join('')}
## Errors and limits

Every error has [one body](/docs/errors) with a \`code\`, a \`remedy\` and a \`requestId\`. \`RateLimit\` and \`RateLimit-Policy\`
of a response say how many requests are left; the [plan](/docs/plans) decides how many there are. An \`Idempotency-Key\` makes it
safe to [send a request again](/docs/guide/retries).

${lists.join('\n')}`,
  };
}

function operationPage(operation: Operation, document: OpenApiDocument): DocsPage {
  const { declared, slug, method, path, isCallback } = operation;
  const { summary, description = '' } = declared;
  const intro = isCallback ? 'Platen sends this to your receiver.' : credentialOf(declared);
  const example = isCallback ? '' : `\`\`\`sh\n${curlOf(operation)}\n\`\`\`\n`;
  const parts = [
    `\`${isCallback ? `POST, type ${path}` : `${method} ${path}`}\`\n`,
    [description, `${intro}\n`].filter((text) => text !== '').join('\n\n'),
    example,
    parametersOf(declared, document),
    bodyOf(declared, document),
    responsesOf(declared, document),
  ];
  return {
    ...{ file: FILE, slug, title: summary },
    description: `${method} ${path}. ${description === '' ? `${summary}.` : description}`,
    body: parts.filter((part) => part !== '').join('\n'),
  };
}

function credentialOf({ security }: OpenApiOperation): string {
  const [name] = security.flatMap((each) => Object.keys(each));
  if (name === 'apiKey') return 'Needs an [API key](/docs/guide/keys).';
  if (name === 'bearer') return 'Needs an [access token](/docs/guide/keys).';
  return 'Needs no credential.';
}

function curlOf({ method, path, declared }: Operation): string {
  const { security, requestBody, responses } = declared;
  const [scheme] = security.flatMap((each) => Object.keys(each));
  const example = requestBody?.content['application/json']?.example;
  const types = Object.keys(responses['200']?.content ?? {});
  const address = path.replace(/\{(\w+)\}/g, (_whole, name: string) => `$${shellName(name)}`);
  const quote = address.includes('$') ? '"' : '';
  const file = types.find((type) => /pdf|zip|octet-stream|x-ndjson/.test(type));
  const words = [
    `curl --fail-with-body ${quote}${EXAMPLE_ADDRESS}${address}${quote}`,
    ...(method === (example === undefined ? 'GET' : 'POST') ? [] : [`-X ${method}`]),
    ...(scheme === 'apiKey' ? ['-H "X-API-Key: $KEY"'] : []),
    ...(scheme === 'bearer' ? ['-H "Authorization: Bearer $TOKEN"'] : []),
    ...(example === undefined ? [] : ["-H 'Content-Type: application/json'", `-d '${jsonOf(example)}'`]),
    ...(types.includes('text/event-stream') ? ['-N'] : []),
    ...(file === undefined ? [] : [`-o ${file.includes('zip') ? 'documents.zip' : 'document.pdf'}`]),
  ];
  return words.join(' \\\n  ');
}

function jsonOf(example: unknown): string {
  const line = JSON.stringify(example, null, 1).replace(/\n */g, ' ');
  const text = line.length > ONE_LINE ? JSON.stringify(example, null, 2) : line;
  return text.replaceAll("'", "'\\''");
}

function shellName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

function parametersOf({ parameters = [] }: OpenApiOperation, document: OpenApiDocument): string {
  if (parameters.length === 0) return '';
  const lines = parameters.map(({ in: where, name, required, schema, description }) => {
    const facts = [where, kindOf(schema, document), ...(required && where !== 'path' ? ['required'] : [])];
    const { default: preset, description: meaning = '' } = schema;
    if (preset !== undefined) facts.push(`default \`${String(preset)}\``);
    return `- \`${name}\` (${facts.join('; ')})${(description ?? meaning) === '' ? '' : `: ${description ?? meaning}`}\n`;
  });
  return `## Parameters\n\n${lines.join('')}`;
}

function bodyOf({ requestBody }: OpenApiOperation, document: OpenApiDocument): string {
  if (requestBody === undefined) return '';
  const { description, content } = requestBody;
  const fields = fieldsOf(content['application/json']?.schema, document);
  const intro = [description ?? '', fields].filter((text) => text !== '');
  return intro.length === 0 ? '' : `## Body\n\n${intro.join('\n\n')}`;
}

function responsesOf({ responses }: OpenApiOperation, document: OpenApiDocument): string {
  const all = Object.entries(responses);
  const successes = all.filter(([status]) => Number(status) < 400);
  const errors = all.filter(([status]) => Number(status) >= 400);
  const sections = successes.map(([status, { description, headers = {}, content = {} }], at) => {
    const lines = Object.entries(headers)
      // Those of every response are on the overview.
      .filter(([, header]) => header.$ref === undefined)
      .map(([name, header]) => `- Header \`${name}\`: ${header.description ?? ''}`);
    const parts = [description, lines.join('\n'), contentOf(content, document, at === 0)];
    return `## Response ${status}\n\n${parts.filter((part) => part !== '').join('\n\n')}`;
  });
  const codes = errors.map(([status, { description }]) => {
    const text = description.replace(/`([A-Z_]+)`/g, '[`$1`](/docs/errors#$1)');
    return `- ${status} ${text}\n`;
  });
  const list = codes.length === 0 ? '' : `## Errors\n\n${folded('Codes of this operation', codes.join(''))}`;
  return [...sections, list].filter((part) => part !== '').join('\n');
}

/** The example of the usual response is open; what few readers need is folded, so that an operation fits two screens. */
function contentOf(content: OpenApiContent, document: OpenApiDocument, isUsual: boolean): string {
  const parts = Object.entries(content).map(([type, { schema, example }]) => {
    if (type !== 'application/json') return `The body is \`${type}\`.\n`;
    const fields = fieldsOf(schema, document);
    const shown = example === undefined ? '' : `\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\`\n`;
    if (!isUsual) return folded('Body of this response', `${shown}\n${fields}`);
    return fields === '' ? shown : `${shown}\n${folded('Fields of the response', fields)}`;
  });
  return parts.join('\n');
}

function folded(summary: string, markdown: string): string {
  return `<details><summary>${summary}</summary>\n\n${markdown}\n</details>\n`;
}
