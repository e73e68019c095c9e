/**
 * Installs packages from PyPI into a virtual environment of their own, .cache/NAME, at the versions that a file names.
 * What is up to date is left alone. Arguments: the name and the file.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const LIMIT_MS = 300_000;

const [name = '', requirements = ''] = process.argv.slice(2);
const cache = join(import.meta.dirname, '..', '.cache');
mkdirSync(cache, { recursive: true });
const target = join(realpathSync(cache), name);
const stamp = join(target, '.stamp');
// Its programs name their folder in their first line, so an environment that was moved is made anew.
const wanted = `${readFileSync(requirements, 'utf8')}# in ${target}\n`;
if (readStamp() !== wanted) install();

/** The stamp is written last, and put in place in one step: an installation that was interrupted has none. */
function install(): void {
  console.log(`[${name}] installing (about half a minute) …`);
  rmSync(target, { recursive: true, force: true });
  run('python3', '-m', 'venv', target);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input'];
  run(join(target, 'bin', 'python'), ...pip, '-r', requirements);
  writeFileSync(`${stamp}.new`, wanted);
  renameSync(`${stamp}.new`, stamp);
}

function run(command: string, ...args: string[]): void {
  try {
    execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'], timeout: LIMIT_MS });
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    console.error(`[${name}] Python 3.10 or newer with venv is needed, and PyPI: ${what}`);
    process.exit(1);
  }
}

function readStamp(): string | undefined {
  try {
    return readFileSync(stamp, 'utf8');
  } catch {
    return undefined;
  }
}
