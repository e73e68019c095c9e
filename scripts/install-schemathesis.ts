/**
 * Installs schemathesis from PyPI into a virtual environment of its own, .cache/schemathesis, at the versions that
 * test/conformance/requirements.txt names. What is up to date is left alone.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const TARGET = join(ROOT, '.cache', 'schemathesis');
const STAMP = join(TARGET, '.stamp');
const REQUIREMENTS = join(ROOT, 'test', 'conformance', 'requirements.txt');
const LIMIT_MS = 300_000;

const wanted = readFileSync(REQUIREMENTS, 'utf8');
if (readStamp() !== wanted) install();

/** The stamp is written last, and put in place in one step: an installation that was interrupted has none. */
function install(): void {
  console.log('[schemathesis] installing (about half a minute) …');
  rmSync(TARGET, { recursive: true, force: true });
  run('python3', '-m', 'venv', TARGET);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input'];
  run(join(TARGET, 'bin', 'python'), ...pip, '-r', REQUIREMENTS);
  writeFileSync(`${STAMP}.new`, wanted);
  renameSync(`${STAMP}.new`, STAMP);
}

function run(command: string, ...args: string[]): void {
  try {
    execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'], timeout: LIMIT_MS });
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    console.error(`[schemathesis] Python 3.10 or newer with venv is needed, and PyPI: ${what}`);
    process.exit(1);
  }
}

function readStamp(): string | undefined {
  try {
    return readFileSync(STAMP, 'utf8');
  } catch {
    return undefined;
  }
}
