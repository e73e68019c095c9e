/**
 * Makes everything of a release into release/, and changes nothing outside of it:
 *
 *   node scripts/release.ts VERSION [IMAGE]
 *
 * VERSION has to be that of package.json, to have a section in CHANGELOG.md, and everything has to be committed. IMAGE is
 * the image of that version where it is on this machine: its Debian packages become a bill of materials (DOCKER=podman).
 * What cannot be made on this machine is named at the end, and is no failure.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changesIn, sectionOf } from './release/changelog.ts';
import { stageChart } from './release/chart.ts';
import { debianBom, LIST_PACKAGES, namedBom } from './release/sbom.ts';

const ROOT = join(import.meta.dirname, '..');
const TARGET = join(ROOT, 'release');
const [version = '', image] = process.argv.slice(2);
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const section = sectionOf(read('CHANGELOG.md'), version);
const problems = problemsOf(version);
if (problems.length > 0 || section === undefined) {
  for (const problem of problems) console.error(problem);
  process.exit(1);
}
rmSync(TARGET, { recursive: true, force: true });
mkdirSync(TARGET);
const work = mkdtempSync(join(tmpdir(), 'platen-release-'));
const left: string[] = [];
try {
  writeFileSync(join(TARGET, 'NOTES.md'), `${section}\n`);
  writeFileSync(join(TARGET, `platen-definitions-${version}.yaml`), definitions());
  await packageCharts();
  writeFileSync(join(TARGET, `platen-${version}-npm.cdx.json`), npmBom());
  packClients();
  if (image === undefined) left.push('the bill of the Debian packages: no IMAGE was named');
  else await attempt('the bill of the Debian packages', () => writeDebianBom(image));
  writeFileSync(join(TARGET, 'SHA256SUMS'), checksums());
} finally {
  rmSync(work, { recursive: true, force: true });
}
console.log(`release/ has ${readdirSync(TARGET).sort().join(', ')}`);
for (const line of left) console.log(`left out: ${line}`);

/** Everything that keeps this commit from being the release of that version. */
function problemsOf(wanted: string): string[] {
  const { version: present } = JSON.parse(read('package.json')) as { version: string };
  const changed = run('git', ['status', '--porcelain', '--untracked-files=no']).trim();
  return [
    ...(wanted === present ? [] : [`VERSION is ${wanted || 'not given'}, and package.json has ${present}.`]),
    ...(section === undefined ? [`CHANGELOG.md has no section "## ${wanted}".`] : []),
    ...(changed === '' ? [] : [`There are changes that are not committed:\n${changed}`]),
  ];
}

function run(command: string, args: readonly string[], cwd = ROOT): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

async function attempt(what: string, make: () => void | Promise<void>): Promise<void> {
  try {
    await make();
  } catch (error) {
    left.push(`${what}: ${(error as Error).message.split('\n', 1)[0]}`);
  }
}

function definitions(): string {
  const files = readdirSync(join(ROOT, 'crds')).filter((name) => name.endsWith('.yaml'));
  return files.map((name) => `---\n${read(join('crds', name))}`).join('');
}

async function packageCharts(): Promise<void> {
  const changes = changesIn(section ?? '');
  // What values.yaml leaves to the version of the chart.
  const images = { platen: { platen: `platen:${version}` }, 'platen-crds': {} };
  for (const [name, own] of Object.entries(images)) {
    const staged = join(work, name);
    await stageChart(join(ROOT, 'charts', name), staged, { changes, images: own });
    run(join(ROOT, '.cache', 'go', 'bin', 'helm4'), ['package', staged, '--destination', TARGET]);
  }
}

/** Of what the service runs, from the lockfile. */
function npmBom(): string {
  const omitted = ['--omit', 'dev', '--omit', 'optional'];
  const bom = run('npm', ['sbom', '--sbom-format', 'cyclonedx', ...omitted, '--package-lock-only']);
  return namedBom(bom, 'platen');
}

/** Without the sums: they are among those of the release. */
function packClients(): void {
  const packed = join(work, 'clients');
  run(process.execPath, [join(ROOT, 'scripts', 'clients', 'pack.ts'), packed]);
  for (const name of readdirSync(packed).filter((each) => each !== 'SHA256SUMS'))
    cpSync(join(packed, name), join(TARGET, name));
}

function writeDebianBom(name: string): void {
  const [command, ...args] = LIST_PACKAGES;
  const listed = run(process.env.DOCKER ?? 'docker', [
    'run',
    '--rm',
    '--entrypoint',
    command!,
    name,
    ...args,
  ]);
  const bom = debianBom(name, version, listed, new Date());
  writeFileSync(join(TARGET, `platen-${version}-debian.cdx.json`), `${JSON.stringify(bom, null, 2)}\n`);
}

/** As `sha256sum --check` reads them. */
function checksums(): string {
  return readdirSync(TARGET)
    .sort()
    .map((name) => {
      const sum = createHash('sha256').update(readFileSync(join(TARGET, name)));
      return `${sum.digest('hex')}  ${name}\n`;
    })
    .join('');
}
