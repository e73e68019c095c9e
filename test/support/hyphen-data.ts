import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');

/** Compiles the hyphenation dictionaries where nobody has: `make test` has done so before. */
export function compileDictionaries(): void {
  if (existsSync(join(ROOT, 'dist', 'hyphen-data', 'manifest.json'))) return;
  execFileSync(process.execPath, [join(ROOT, 'scripts', 'hyphenation', 'compile.ts')]);
}
