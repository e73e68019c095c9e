/** Builds `dist`, in a fresh checkout as well: what the build needs is installed first where it is missing. */
import { execFileSync, execSync } from 'node:child_process';
import { createRequire } from 'node:module';

const NEEDED = ['typescript/package.json', 'openapi-fetch', '@types/node/package.json'];
const { resolve } = createRequire(import.meta.url);
const here = { cwd: new URL('.', import.meta.url), stdio: 'inherit' };

try {
  for (const name of NEEDED) resolve(name);
} catch {
  execSync('npm install --no-save --no-audit --no-fund --loglevel=error', here);
}
const compiler = resolve('typescript/package.json').replace('package.json', 'bin/tsc');
execFileSync(process.execPath, [compiler, '-p', '.'], here);
