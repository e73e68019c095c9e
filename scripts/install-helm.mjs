/**
 * Builds Helm 3 and Helm 4 from the Go module proxy into .cache/kubernetes/bin, as `helm3` and `helm4`. Plain JavaScript,
 * which Node 20 or newer runs before anything is installed. What is up to date is left alone.
 *
 *   node scripts/install-helm.mjs [helm3] [helm4]     (no name: both)
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

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
for (const name of names) if (readStamp(name) !== MODULES[name]) install(name);

/** Builds aside, and puts the command in place when it is whole; the stamp is written last. */
function install(name) {
  console.log(`[helm] building ${name} (${MODULES[name]}; some minutes the first time) …`);
  const building = mkdtempSync(join(target, `.${name}-`));
  try {
    const { error, status } = spawnSync('go', ['install', '-trimpath', '-ldflags=-s -w', MODULES[name]], {
      // Not in a workspace or module that the caller may stand in, and with whatever Go the module asks for. What only
      // debuggers read is not made, which takes a tenth of the time.
      cwd: building,
      env: {
        ...process.env,
        GOBIN: building,
        GOFLAGS: '-gcflags=all=-dwarf=false',
        GOWORK: 'off',
        CGO_ENABLED: '0',
      },
      stdio: ['ignore', 'inherit', 'inherit'],
      timeout: LIMIT_MS,
    });
    if (error?.code === 'ENOENT') fail('go is not on PATH: Go 1.24 or newer is needed');
    if (error !== undefined) fail(`${name} could not be built: ${error.message}`);
    if (status !== 0) fail(`${name} could not be built: go ended with ${status}`);
    renameSync(join(building, 'helm'), join(target, name));
    writeFileSync(stampOf(name), MODULES[name]);
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
}

function stampOf(name) {
  return join(target, `.${name}.stamp`);
}

function readStamp(name) {
  try {
    return readFileSync(stampOf(name), 'utf8');
  } catch {
    return undefined;
  }
}

function fail(text) {
  console.error(`[helm] ${text}`);
  process.exit(1);
}
