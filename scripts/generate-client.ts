/**
 * Writes the types of the TypeScript client from docs/openapi.json: clients/typescript/src/generated/schema.ts.
 * With `--check` it writes nothing, and exits with 1 if the file is stale.
 */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const CLIENT = join(ROOT, 'clients', 'typescript');
const TARGET = join(CLIENT, 'src', 'generated', 'schema.ts');

const wanted = generate();
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
  const generator = join(CLIENT, 'node_modules', 'openapi-typescript', 'bin', 'cli.js');
  // A field of a request that has a default may be left out.
  const options = ['--root-types', '--root-types-no-schema-prefix', '--default-non-nullable', 'false'];
  return execFileSync(process.execPath, [generator, join(ROOT, 'docs', 'openapi.json'), ...options], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}
