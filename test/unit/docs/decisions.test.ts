import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const FOLDER = join(ROOT, 'docs/decisions');
const RECORDS = readdirSync(FOLDER).filter((name) => /^\d{4}-.+\.md$/.test(name));
const NUMBERS = new Set(RECORDS.map(numberOf));
const INDEX = readFileSync(join(FOLDER, 'README.md'), 'utf8');

/** Where decisions are cited. */
const CITING = ['src', 'test', 'docs', 'charts', 'scripts', 'clients', 'README.md', 'Makefile'];
const TEXT = /\.(ts|mjs|md|ya?ml|tpl|sh|grit|java|json|txt)$|^Makefile$/;
const LEFT_OUT = new Set(['node_modules', 'dist', 'generated', 'fixtures']);

function numberOf(name: string): number {
  return Number(name.slice(0, 4));
}

function* filesOf(path: string): Generator<string> {
  const entries = readdirSync(path, { withFileTypes: true });
  for (const entry of entries) {
    if (entry.isDirectory() && !LEFT_OUT.has(entry.name)) yield* filesOf(join(path, entry.name));
    if (entry.isFile() && TEXT.test(entry.name)) yield join(path, entry.name);
  }
}

function citingFiles(): string[] {
  return CITING.flatMap((name) =>
    /\.md$|^Makefile$/.test(name) ? join(ROOT, name) : [...filesOf(join(ROOT, name))],
  );
}

/** What a text cites that is no record: a file by its path, a number in `decision N` or `decisions N, N and N`. */
function missingIn(text: string): string[] {
  const paths = [...text.matchAll(/\bdecisions\/((\d{4})(?:-[\w-]+\.md)?)/g)]
    .filter(([, path, number]) =>
      path!.endsWith('.md') ? !RECORDS.includes(path!) : !NUMBERS.has(Number(number)),
    )
    .map(([cited]) => cited);
  const numbers = [...text.matchAll(/\bdecisions? (\d{1,4}(?:(?:, | and )\d{1,4})*)\b/gi)]
    .flatMap(([, list]) => list!.split(/, | and /))
    .filter((number) => !NUMBERS.has(Number(number)))
    .map((number) => `decision ${number}`);
  return [...paths, ...numbers];
}

describe('The records of decisions', () => {
  it('are each in the index, with their title and a status', () => {
    const missing = RECORDS.filter((name) => {
      const title = readFileSync(join(FOLDER, name), 'utf8').match(/^# (?:\d+[.:] )?(.+)/)?.[1];
      const row = new RegExp(`^\\| ${numberOf(name)} +\\| \\[(.+)\\]\\(${name}\\) +\\| in force +\\|$`, 'm');
      return INDEX.match(row)?.[1] !== title;
    });
    assert.deepEqual(missing, []);
  });

  it('have numbers of their own', () => {
    assert.equal(NUMBERS.size, RECORDS.length);
  });

  it('are where the index leads', () => {
    const dangling = [...INDEX.matchAll(/\]\(([^)]+\.md)\)/g)]
      .map(([, path]) => path!)
      .filter((path) => !existsSync(join(FOLDER, path)));
    assert.deepEqual(dangling, []);
  });

  it('are there wherever one is cited', () => {
    const missing = citingFiles()
      .filter((path) => path !== join(FOLDER, 'README.md'))
      .flatMap((path) => {
        const found = missingIn(readFileSync(path, 'utf8'));
        return found.map((cited) => `${relative(ROOT, path)}: ${cited}`);
      });
    assert.deepEqual(missing, []);
  });

  it('lead to records and files that are there', () => {
    const dangling = RECORDS.flatMap((name) => {
      const text = readFileSync(join(FOLDER, name), 'utf8');
      const links = [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, path]) => join(FOLDER, path!));
      const named = [...text.matchAll(/`((?:src|test|scripts|charts|docs)\/[\w./-]+)`/g)].map(([, path]) =>
        join(ROOT, path!),
      );
      return [...links, ...named]
        .filter((path) => !existsSync(path))
        .map((path) => `${name}: ${relative(ROOT, path)}`);
    });
    assert.deepEqual(dangling, []);
  });
});
