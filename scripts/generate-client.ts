/**
 * Writes what the TypeScript client has of the service: its types from docs/openapi.json, and what can be done about each
 * error of a job, into clients/typescript/src/generated. With `--check` it writes nothing, and exits with 1 if a file is stale.
 */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { REMEDIES } from '../src/infra/errors/remedies.ts';

const ROOT = join(import.meta.dirname, '..');
const CLIENT = join(ROOT, 'clients', 'typescript');
const TARGET = join(CLIENT, 'src', 'generated');

/** Public names of the client for schemas that have another one in the document. */
const ALIASES = {
  NewApiKey: 'CreatedApiKey',
  NewSession: 'CreatedSession',
  NewWebhookKey: 'CreatedWebhookKey',
};

for (const [name, wanted] of [
  ['schema.ts', schema() + aliases()],
  ['remedies.ts', remedies()],
] as const) {
  const path = join(TARGET, name);
  const present = await readFile(path, 'utf8').catch(() => undefined);
  if (present === wanted) continue;
  if (process.argv.includes('--check')) {
    console.error(`Stale, run make generate: ${relative(process.cwd(), path)}`);
    process.exitCode = 1;
  } else {
    await writeFile(path, wanted);
  }
}

function remedies(): string {
  const table = JSON.stringify(REMEDIES, undefined, 2);
  return `/** What can be done about an error, by its code. Made by \`make generate\`. */
export const REMEDIES: Readonly<Record<string, string>> = ${table};
`;
}

function schema(): string {
  // Where the client finds it: npm decides whether a package of a workspace lies there or at the root.
  const manifest = createRequire(join(CLIENT, 'package.json')).resolve('openapi-typescript/package.json');
  const generator = join(dirname(manifest), 'bin', 'cli.js');
  // A field of a request that has a default may be left out.
  const options = ['--root-types', '--root-types-no-schema-prefix', '--default-non-nullable', 'false'];
  return execFileSync(process.execPath, [generator, join(ROOT, 'docs', 'openapi.json'), ...options], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

function aliases(): string {
  return Object.entries(ALIASES)
    .map(([name, of]) => `export type ${name} = ${of};\n`)
    .join('');
}
