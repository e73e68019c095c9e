import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { ApiDocument } from '../api-document.ts';
import { defineRoute } from '../route.ts';

const tags = ['Documentation'];
/** The page's own files, and nothing else; pictures of the style sheet are data: addresses. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const KEEP_FOR_AN_HOUR = { 'Cache-Control': 'public, max-age=3600' };

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Platen API</title>
    <link rel="icon" type="image/png" href="/docs/favicon.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <div id="api"></div>
    <script src="/docs/swagger-ui.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

const START = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis],
  layout: 'BaseLayout',
});
`;

const document = defineRoute({
  method: 'get',
  path: '/openapi.json',
  summary: 'This document: OpenAPI 3.1',
  tags,
  auth: 'none',
  responses: { 200: { description: 'The document.', contentType: 'application/json' } },
}).handledBy((_request, parts: { readonly document: () => ApiDocument }) => {
  return { status: 200, body: bytesOf(parts.document()) };
});

/** Written once: however many readers take their time, they all have the same bytes. */
const written = new WeakMap<ApiDocument, Buffer>();

function bytesOf(document: ApiDocument): Buffer {
  const bytes = written.get(document) ?? Buffer.from(JSON.stringify(document));
  written.set(document, bytes);
  return bytes;
}

const docsPage = defineRoute({
  method: 'get',
  path: '/docs',
  summary: 'This document as a page',
  tags,
  auth: 'none',
  responses: { 200: { description: 'The page.', contentType: 'text/html; charset=utf-8' } },
}).handledBy((_request, _parts: unknown) => {
  return { status: 200, body: PAGE, headers: { 'Content-Security-Policy': PAGE_POLICY } };
});

export const documentationRoutes = [
  document,
  docsPage,
  asset('/docs/start.js', 'text/javascript; charset=utf-8', async () => START),
  asset('/docs/swagger-ui.js', 'text/javascript; charset=utf-8', () => packaged('swagger-ui-bundle.js')),
  asset('/docs/swagger-ui.css', 'text/css; charset=utf-8', () => packaged('swagger-ui.css')),
  asset('/docs/favicon.png', 'image/png', () => packaged('favicon-32x32.png')),
];

function asset(path: string, contentType: string, body: () => Promise<string | Buffer>) {
  return defineRoute({
    method: 'get',
    path,
    summary: 'Part of the documentation page',
    tags,
    auth: 'none',
    internal: true,
    logLevel: 'debug',
    responses: { 200: { description: 'The file.', contentType } },
  }).handledBy(async (_request, _parts: unknown) => {
    return { status: 200, body: await body(), headers: KEEP_FOR_AN_HOUR };
  });
}

const read = new Map<string, Promise<Buffer>>();

/** A file of swagger-ui-dist, read once for the same reason. */
function packaged(name: string): Promise<Buffer> {
  const known = read.get(name) ?? readFile(createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`));
  read.set(name, known);
  known.catch(() => read.delete(name));
  return known;
}
