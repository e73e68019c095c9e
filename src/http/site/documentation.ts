import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import type { ApiDeps } from '../api-deps.ts';
import { routesOf } from '../request/route.ts';
import type { ApiDocument } from './api-document.ts';

const defineRoute = routesOf({ tags: ['Documentation'], auth: 'none' });
/** Allows only the page's own files, and the style sheet's pictures, which have data: addresses. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** On every file, because the search worker has the policy of its own file. The search uses WebAssembly. */
const SITE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};
const VARYING = { Vary: 'Accept-Encoding' };
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

const document = defineRoute('GET /openapi.json', {
  operationId: 'getApiDocument',
  summary: 'This document: OpenAPI 3.1',
  responses: { 200: { description: 'The document.', contentType: 'application/json' } },
}).handledBy(({ acceptsGzip }, deps: { readonly document: () => ApiDocument }) => {
  const { plain, gzipped } = bytesOf(deps.document());
  if (!acceptsGzip()) return { status: 200, body: plain, headers: VARYING };
  return { status: 200, body: gzipped, headers: { ...VARYING, 'Content-Encoding': 'gzip' } };
});

interface Serialised {
  readonly plain: Buffer;
  /** A twelfth of the size: readers of the playground wait for it. */
  readonly gzipped: Buffer;
}

/** Serialised once: all responses share the same bytes. */
const serialised = new WeakMap<ApiDocument, Serialised>();

function bytesOf(document: ApiDocument): Serialised {
  const known = serialised.get(document);
  if (known !== undefined) return known;
  const plain = Buffer.from(JSON.stringify(document));
  const bytes = { plain, gzipped: gzipSync(plain) };
  serialised.set(document, bytes);
  return bytes;
}

const tryPage = defineRoute('GET /docs/api/try', {
  operationId: 'getApiPlayground',
  summary: 'This document as a page, from which requests can be sent',
  responses: { 200: { description: 'The page.', contentType: 'text/html; charset=utf-8' } },
}).handledBy((_request, _deps: unknown) => {
  return { status: 200, body: PAGE, headers: { 'Content-Security-Policy': PAGE_POLICY } };
});

type SiteDeps = Pick<ApiDeps, 'documentation'>;

const firstPage = defineRoute('GET /docs', {
  operationId: 'getDocumentation',
  summary: 'The documentation',
  responses: { 200: { description: 'Its first page.', contentType: 'text/html; charset=utf-8' } },
}).handledBy(async (request, { documentation }: SiteDeps) => {
  const file = await documentation.find('', request.acceptsGzip);
  // Where no documentation is installed, there still is the page of the API document.
  if (file === undefined)
    return { status: 200, body: PAGE, headers: { 'Content-Security-Policy': PAGE_POLICY } };
  return { status: 200, body: file.body, headers: { ...file.headers, ...SITE_HEADERS } };
});

const sitePage = defineRoute('GET /docs/*path', {
  summary: 'A page of the documentation, or a part of one',
  internal: true,
  logLevel: 'debug',
  params: z.strictObject({ path: z.array(z.string()) }),
  headers: z.strictObject({ accept: z.string().optional() }),
  responses: {
    200: { description: 'The file.', contentType: 'text/html; charset=utf-8' },
    404: { description: 'A page that says so, for browsers.', contentType: 'text/html; charset=utf-8' },
  },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params, headers, acceptsGzip }, { documentation }: SiteDeps) => {
  const file = await documentation.find(params.path.join('/'), acceptsGzip);
  if (file !== undefined)
    return { status: 200, body: file.body, headers: { ...file.headers, ...SITE_HEADERS } };
  const missing = headers.accept?.includes('text/html')
    ? await documentation.find('404.html', acceptsGzip)
    : undefined;
  if (missing === undefined) throw new PlatenError('NOT_FOUND', 'The documentation has no such page.');
  return { status: 404, body: missing.body, headers: { ...missing.headers, ...SITE_HEADERS } };
});

export const documentationRoutes = [
  document,
  firstPage,
  tryPage,
  asset('/docs/start.js', 'text/javascript; charset=utf-8', async () => START),
  asset('/docs/swagger-ui.js', 'text/javascript; charset=utf-8', () => packaged('swagger-ui-bundle.js')),
  asset('/docs/swagger-ui.css', 'text/css; charset=utf-8', () => packaged('swagger-ui.css')),
  asset('/docs/favicon.png', 'image/png', () => packaged('favicon-32x32.png')),
  // Last, because the other paths are below /docs as well.
  sitePage,
];

function asset(path: string, contentType: string, body: () => Promise<string | Buffer>) {
  return defineRoute(`GET ${path}`, {
    summary: 'Part of the documentation page',
    internal: true,
    logLevel: 'debug',
    responses: { 200: { description: 'The file.', contentType } },
  }).handledBy(async (_request, _deps: unknown) => {
    return { status: 200, body: await body(), headers: KEEP_FOR_AN_HOUR };
  });
}

const read = new Map<string, Promise<Buffer>>();

/** A file of swagger-ui-dist, read once: all responses share the same bytes. */
function packaged(name: string): Promise<Buffer> {
  const known = read.get(name) ?? readFile(createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`));
  read.set(name, known);
  known.catch(() => read.delete(name));
  return known;
}
