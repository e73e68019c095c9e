import { join } from 'node:path';
import { z } from 'zod';
import { PlatenError } from '../../infra/errors/registry.ts';
import { PACKAGE_FOLDER } from '../../infra/machine/package-folder.ts';
import { routesOf } from '../request/route.ts';
import { BuiltFiles } from './built-files.ts';

/** Where `make clients` puts the packages. */
const BUILT = join(PACKAGE_FOLDER, 'dist', 'clients');
/** A name without a version, for whoever wants the client that fits the service. */
const NPM_ALIAS = 'platen-client.tgz';
const defineRoute = routesOf({ tags: ['Documentation'], auth: 'none' });

const files = new BuiltFiles(BUILT);

const packagesPage = defineRoute('GET /clients', {
  summary: 'The clients of this service, and how to install them',
  internal: true,
  responses: { 200: { description: 'A page.', contentType: 'text/html; charset=utf-8' } },
}).handledBy(async (_request, { publicUrl }: { readonly publicUrl: () => string }) => {
  const names = [...(await files.files()).keys()].toSorted();
  return { status: 200, body: pageOf(names, publicUrl()), headers: { 'Cache-Control': 'no-cache' } };
});

const packageFile = defineRoute('GET /clients/:name', {
  summary: 'A client of this service, as npm and pip install it',
  internal: true,
  params: z.strictObject({
    name: z
      .string()
      .max(100)
      .regex(/^[\w.+-]+$/, 'must be the name of a file'),
  }),
  responses: { 200: { description: 'The package.', contentType: 'application/octet-stream' } },
  errors: ['NOT_FOUND'],
}).handledBy(async ({ params: { name } }, _deps: unknown) => {
  const wanted = name === NPM_ALIAS ? npmPackageIn((await files.files()).keys()) : name;
  const file = wanted === undefined ? undefined : await files.find([wanted], () => false);
  if (file === undefined) throw new PlatenError('NOT_FOUND', 'There is no such client: /clients lists them.');
  return { status: 200, body: file.body, headers: file.headers };
});

function npmPackageIn(names: Iterable<string>): string | undefined {
  return [...names].find((name) => name.endsWith('.tgz'));
}

/** The names are this project's own. */
function pageOf(names: readonly string[], publicUrl: string): string {
  const address = `${publicUrl.replace(/\/$/, '')}/clients`;
  const wheel = names.find((name) => name.endsWith('.whl'));
  const commands =
    names.length === 0
      ? '<p>They are not built here. Run <code>make clients</code>.</p>'
      : `<pre>npm install ${address}/${NPM_ALIAS}
pip install ${address}/${wheel}</pre>`;
  const items = names.map((name) => `<li><a href="/clients/${name}">${name}</a></li>`);
  return `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><title>Platen clients</title></head>
  <body>
    <h1>Platen clients</h1>
    ${commands}
    <ul>${items.join('')}</ul>
  </body>
</html>
`;
}

export const clientRoutes = [packagesPage, packageFile];
