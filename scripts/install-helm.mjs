/**
 * Builds Helm 3 and Helm 4 from the Go module proxy into .cache/kubernetes/bin, as `helm3` and `helm4`. Plain JavaScript,
 * which Node 20 or newer runs before anything is installed. What is up to date is left alone.
 *
 *   node scripts/install-helm.mjs [helm3] [helm4]     (no name: both)
 */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { goInstall } from './go-install.mjs';

const MODULES = {
  helm3: 'helm.sh/helm/v3/cmd/helm@v3.22.0',
  helm4: 'helm.sh/helm/v4/cmd/helm@v4.3.1',
};
const LIMIT_MS = 1_200_000;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = join(root, '.cache', 'kubernetes', 'bin');

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(MODULES);
for (const name of names) {
  if (MODULES[name] === undefined) fail(`unknown: ${name} (there are: ${Object.keys(MODULES).join(', ')})`);
}
mkdirSync(target, { recursive: true });
for (const name of names) {
  try {
    goInstall({
      module: MODULES[name],
      folder: target,
      name,
      stamp: join(target, `.${name}.stamp`),
      limitMs: LIMIT_MS,
      begins: () => console.log(`[helm] building ${name} (${MODULES[name]}; some minutes the first time) …`),
    });
  } catch (error) {
    fail(error.message);
  }
}

function fail(text) {
  console.error(`[helm] ${text}`);
  process.exit(1);
}
