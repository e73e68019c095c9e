/**
 * Builds stripe-mock, which holds requests against Stripe's own specification, from the Go module proxy into
 * .cache/stripe-mock. Plain JavaScript, which Node 20 or newer runs. What is up to date is left alone.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Its specification is that of the API version 2026-08-26.dahlia: older than the one that Platen pins. */
const MODULE = 'github.com/stripe/stripe-mock@v0.203.0';
const LIMIT_MS = 600_000;

const target = join(dirname(dirname(fileURLToPath(import.meta.url))), '.cache', 'stripe-mock');
const stamp = join(target, '.stamp');

mkdirSync(target, { recursive: true });
if (readStamp() !== MODULE) install();

/** Builds aside, and puts the command in place when it is whole; the stamp is written last. */
function install() {
  console.log(`[stripe-mock] building ${MODULE} (about a minute the first time) …`);
  const building = mkdtempSync(join(target, '.building-'));
  try {
    const { error, status } = spawnSync('go', ['install', '-trimpath', '-ldflags=-s -w', MODULE], {
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
    if (error !== undefined) fail(`it could not be built: ${error.message}`);
    if (status !== 0) fail(`it could not be built: go ended with ${status}`);
    renameSync(join(building, 'stripe-mock'), join(target, 'stripe-mock'));
    writeFileSync(stamp, MODULE);
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
}

function readStamp() {
  try {
    return readFileSync(stamp, 'utf8');
  } catch {
    return undefined;
  }
}

function fail(text) {
  console.error(`[stripe-mock] ${text}`);
  process.exit(1);
}
