/** The package of the TypeScript client, with what it depends on within, so that no registry is needed to install it. */
import { execFileSync } from 'node:child_process';
import { cpSync, createWriteStream, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-fs';
import { withoutRelativeLinks } from './wheel.ts';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** So that the same sources are the same bytes. */
const DATE = new Date('2020-01-01T00:00:00Z');

/**
 * @param project the folder of package.json.
 * @param folder where the package is put.
 * @param work an empty folder.
 * @returns its name, which says its version.
 */
export async function buildNpmPackage(project: string, folder: string, work: string): Promise<string> {
  const { scripts: _, devDependencies: __, ...manifest } = manifestOf(project);
  const bundled = bundledWith(project);
  // TypeScript of the repository, which is the quicker one.
  const compiler = join(import.meta.dirname, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(process.execPath, [compiler, '-p', project, '--outDir', join(work, 'dist')], {
    stdio: 'inherit',
  });
  nameSources(join(work, 'dist'), project);
  const own = { ...manifest, bundleDependencies: [...bundled.keys()] };
  writeFileSync(join(work, 'package.json'), `${JSON.stringify(own, null, 2)}\n`);
  writeFileSync(
    join(work, 'README.md'),
    withoutRelativeLinks(readFileSync(join(project, 'README.md'), 'utf8')),
  );
  for (const [name, from] of bundled) {
    const to = join(work, 'node_modules', name);
    mkdirSync(dirname(to), { recursive: true });
    cpSync(from, to, { recursive: true, dereference: true });
  }
  const target = `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`;
  const entries = readdirSync(work, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(work, join(entry.parentPath, entry.name)))
    .sort();
  const packed = pack(work, {
    entries,
    map: (header) => ({ ...header, name: `package/${header.name}`, mtime: DATE, uid: 0, gid: 0 }),
  });
  await pipeline(packed, createGzip({ level: 9 }), createWriteStream(join(folder, target)));
  return target;
}

/** Source maps have their sources within; they are called as in the project, wherever it was built. */
function nameSources(dist: string, project: string): void {
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.js.map')) continue;
    const path = join(dist, name);
    const map = JSON.parse(readFileSync(path, 'utf8')) as { sources: string[] };
    const sources = map.sources.map((source) => join('..', relative(project, join(dirname(path), source))));
    writeFileSync(path, JSON.stringify({ ...map, sources }));
  }
}

/** What the package depends on, and what that depends on: the names, and where each is. */
function bundledWith(project: string): Map<string, string> {
  const found = new Map<string, string>();
  const add = (from: string) => {
    for (const name of Object.keys(manifestOf(from).dependencies ?? {})) {
      if (found.has(name)) continue;
      const path = folderOf(name, from);
      found.set(name, path);
      add(path);
    }
  };
  add(project);
  return found;
}

function folderOf(name: string, from: string): string {
  const folders = createRequire(join(from, 'package.json')).resolve.paths(name) ?? [];
  const found = folders.map((folder) => join(folder, name)).find((path) => isPackage(path));
  if (found === undefined) throw new Error(`${name} is not installed`);
  return found;
}

function isPackage(path: string): boolean {
  try {
    manifestOf(path);
    return true;
  } catch {
    return false;
  }
}

function manifestOf(folder: string): Manifest & Record<string, unknown> {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
