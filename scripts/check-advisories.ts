/**
 * Compares the versions that this repository pins with known advisories:
 *
 *   node scripts/check-advisories.ts [--audit]
 *
 * Without network, it reads scripts/advisories/known.json. With `--audit`, npm's own advisories about the packages of
 * the service, and of those that build its documentation, are asked for as well. A registry that has none for us, or does
 * not answer within a minute, is named, and is no failure.
 */
import { spawnSync } from 'node:child_process';
import { type Advisory, checkPins } from './advisories/check.ts';
import known from './advisories/known.json' with { type: 'json' };
import { readPins } from './advisories/pins.ts';

/** The longest that a registry is waited for, in milliseconds. */
const AUDIT_MS = 60_000;

const ROOT = new URL('..', import.meta.url);
const { problems, accepted } = checkPins(readPins(ROOT), known as Advisory[]);
for (const line of accepted) console.log(`accepted: ${line}`);
for (const line of problems) console.error(line);
const audited = !process.argv.includes('--audit') || ['.', 'site'].map(audit).every((passed) => passed);
if (problems.length > 0 || !audited) process.exitCode = 1;

/** @returns whether npm knows nothing of high severity about the packages of a lockfile, apart from those for development. */
function audit(folder: string): boolean {
  const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--audit-level=high', '--json'], {
    cwd: new URL(`${folder}/`, ROOT),
    encoding: 'utf8',
    timeout: AUDIT_MS,
  });
  const vulnerabilities = vulnerabilitiesIn(stdout ?? '');
  if (vulnerabilities === undefined) {
    console.log(`npm audit of ${folder}: no answer of the registry, so the packages are not compared`);
    return true;
  }
  const { high = 0, critical = 0 } = vulnerabilities;
  console.log(`npm audit of ${folder}: ${high} high, ${critical} critical`);
  return high + critical === 0;
}

/** @returns how many there are of each severity; undefined for what is no report. */
function vulnerabilitiesIn(report: string): Record<string, number> | undefined {
  try {
    return JSON.parse(report).metadata?.vulnerabilities;
  } catch {
    return undefined;
  }
}
