/**
 * Writes the types of the TypeScript client from docs/openapi.json: clients/typescript/src/generated/schema.ts.
 * With `--check` it writes nothing, and exits with 1 if the file is stale.
 */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const CLIENT = join(ROOT, 'clients', 'typescript');
const TARGET = join(CLIENT, 'src', 'generated', 'schema.ts');

/** Public names of the client for schemas that have another one in the document. */
const ALIASES = {
  NewApiKey: 'CreatedApiKey',
  NewSession: 'CreatedSession',
  NewWebhookKey: 'CreatedWebhookKey',
};

const wanted = generate() + aliases();
const present = await readFile(TARGET, 'utf8').catch(() => undefined);
if (present !== wanted) {
  if (process.argv.includes('--check')) {
    console.error(`Stale, run make generate: ${relative(process.cwd(), TARGET)}`);
    process.exitCode = 1;
  } else {
    await writeFile(TARGET, wanted);
  }
}

function generate(): string {
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
