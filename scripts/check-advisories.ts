/**
 * Compares the versions that this repository pins with known advisories:
 *
 *   node scripts/check-advisories.ts [--audit]
 *
 * Without network, it reads scripts/advisories/known.json. With `--audit`, npm's own advisories about the packages of
 * the service are asked for as well; a registry that has none for us is named, and is no failure.
 */
import { spawnSync } from 'node:child_process';
import { type Advisory, checkPins } from './advisories/check.ts';
import known from './advisories/known.json' with { type: 'json' };
import { readPins } from './advisories/pins.ts';

const ROOT = new URL('..', import.meta.url);
const { problems, accepted } = checkPins(readPins(ROOT), known as Advisory[]);
for (const line of accepted) console.log(`accepted: ${line}`);
for (const line of problems) console.error(line);
const audited = !process.argv.includes('--audit') || audit();
if (problems.length > 0 || !audited) process.exitCode = 1;

/** @returns whether npm knows nothing of high severity about what the service runs. */
function audit(): boolean {
  const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--audit-level=high', '--json'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const report = JSON.parse(stdout || '{}') as { metadata?: { vulnerabilities: Record<string, number> } };
  if (report.metadata === undefined) {
    console.log('npm audit: not answered by this registry, so the packages of the lockfile are not compared');
    return true;
  }
  const { high = 0, critical = 0 } = report.metadata.vulnerabilities;
  console.log(`npm audit: ${high} high, ${critical} critical`);
  return high + critical === 0;
}
