import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** A TypeScript file, by its path below the sources, with what it imports, types included. */
export interface SourceFile {
  readonly path: string;
  readonly lines: number;
  /** Paths of files below the sources. */
  readonly files: readonly string[];
  /** Names of packages, such as `@kubernetes/client-node`. */
  readonly packages: readonly string[];
}

/** `from '…'`, `import '…'`, `import('…')`, of code as the formatter writes it. */
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g;

/** Reads all TypeScript files below a folder. */
export function readSources(folder: string): SourceFile[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  return paths.sort().map((path) => sourceFile(path, readFileSync(join(folder, path), 'utf8')));
}

export function sourceFile(path: string, text: string): SourceFile {
  const imported = [...text.matchAll(IMPORT)].map(([, name]) => name!);
  const relative = imported.filter((name) => name.startsWith('.'));
  return {
    path,
    lines: text.split('\n').length - 1,
    files: relative
      .map((name) => normalize(join(dirname(path), name)))
      .filter((file) => !file.startsWith('..') && file.endsWith('.ts')),
    packages: imported.filter((name) => /^[@a-z]/.test(name)).map(packageOf),
  };
}

function packageOf(name: string): string {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}
