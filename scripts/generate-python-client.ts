/**
 * Writes what is made of the Python client: its types from docs/openapi.json, what can be done about each error of a
 * job, and its synchronous modules from the
 * asynchronous ones. With `--check` it writes nothing, names the files that are stale, and exits with 1 if there are any.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { REMEDIES } from '../src/infra/errors/remedies.ts';
import { accountModule } from './python-client/account.ts';
import { type Document, Models } from './python-client/models.ts';
import { withoutAsync } from './python-client/without-async.ts';

const ROOT = join(import.meta.dirname, '..');
const PACKAGE = join(ROOT, 'clients', 'python', 'src', 'platen');
/** Written by hand for each of the two. */
const PRIMITIVES = 'primitives.py';
/** Generated for each of the two. */
const ROUTES = 'account_routes.py';

/** Public names of the client for schemas that have another one in the document. */
const NAMES: Readonly<Record<string, string>> = {
  CreatedApiKey: 'NewApiKey',
  CreatedSession: 'NewSession',
  CreatedWebhookKey: 'NewWebhookKey',
  WebhookPayload: 'WebhookDeliveryDetailPayload',
};

const text = await readFile(join(ROOT, 'docs', 'openapi.json'), 'utf8');
const document = JSON.parse(
  text.replace(
    /(?<=[/"])(Created(?:ApiKey|Session|WebhookKey)|WebhookPayload)"/g,
    (_, name: string) => `${NAMES[name]}"`,
  ),
) as Document;
const models = new Models(document);
const account = accountModule(document, models);
const wanted = new Map([
  [join(PACKAGE, 'models.py'), models.module()],
  [join(PACKAGE, '_remedies.py'), remediesModule()],
  [join(PACKAGE, '_async', ROUTES), account],
  [join(PACKAGE, '_sync', ROUTES), withoutAsync(account, ROUTES)],
]);
const modules = (await readdir(join(PACKAGE, '_async'))).filter((name) => name.endsWith('.py'));
for (const name of modules.filter((name) => name !== PRIMITIVES && name !== ROUTES)) {
  const source = await readFile(join(PACKAGE, '_async', name), 'utf8');
  wanted.set(join(PACKAGE, '_sync', name), withoutAsync(source, name));
}

function remediesModule(): string {
  const entries = Object.entries(REMEDIES).map(
    ([code, remedy]) => `    ${JSON.stringify(code)}: ${JSON.stringify(remedy)},\n`,
  );
  return `# Made by \`make generate\`; do not edit.
"""What can be done about an error, by its code."""

REMEDIES: dict[str, str] = {
${entries.join('')}}
`;
}

const stale: string[] = [];
for (const [path, text] of wanted) {
  const present = await readFile(path, 'utf8').catch(() => undefined);
  if (present === text) continue;
  stale.push(relative(process.cwd(), path));
  if (process.argv.includes('--check')) continue;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
if (stale.length > 0 && process.argv.includes('--check')) {
  console.error(`Stale, run make generate: ${stale.join(', ')}`);
  process.exitCode = 1;
}
