/**
 * Writes the table of all values into the README of the chart, from values.yaml and its comments. With `--check` it writes
 * nothing, and exits with 1 when the table is stale.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isScalar, parseDocument, type Scalar, type YAMLMap } from 'yaml';

const ROOT = join(import.meta.dirname, '..');
const CHART = join(ROOT, 'charts', 'platen');
const README = join(CHART, 'README.md');
const HEADING = '## Every value\n';
const NOTE = '<!-- From here on made of values.yaml by `make generate`; do not edit. -->';

interface Row {
  readonly path: string;
  /** Absent for a map that has rows of its own. */
  readonly value?: unknown;
  readonly meaning: string;
}

const values = parseDocument(readFileSync(join(CHART, 'values.yaml'), 'utf8')).contents;
if (!isMap(values)) throw new Error('values.yaml is no map.');
const present = readFileSync(README, 'utf8');
const wanted = formatted(
  `${present.split(`${NOTE}\n`, 1)[0]!.trimEnd()}\n\n${NOTE}\n\n${HEADING}\n${table(rowsOf(values, ''))}`,
);
if (wanted !== present) {
  if (process.argv.includes('--check')) {
    console.error('Stale, run make generate: charts/platen/README.md');
    process.exitCode = 1;
  } else {
    writeFileSync(README, wanted);
  }
}

function rowsOf(map: YAMLMap, path: string): Row[] {
  return map.items.flatMap((pair, i) => {
    const key = pair.key as Scalar<string>;
    // A comment before the first key of a map is the map's own.
    const meaning = meaningOf(key.commentBefore ?? (i === 0 ? map.commentBefore : undefined));
    const at = path === '' ? key.value : `${path}.${key.value}`;
    if (isMap(pair.value) && pair.value.items.length > 0 && pair.value.flow !== true) {
      return [...(meaning === '' ? [] : [{ path: at, meaning }]), ...rowsOf(pair.value, at)];
    }
    const node = pair.value;
    const value = isScalar(node) ? node.value : ((node as YAMLMap | null)?.toJSON() ?? null);
    return [{ path: at, value, meaning }];
  });
}

/** What a comment says after `--`; other comments are for those who read the file. */
function meaningOf(comment: string | null | undefined): string {
  const said =
    (comment ?? '')
      .split(/^ ?-- /m)
      .slice(1)
      .at(-1) ?? '';
  return said.replaceAll(/\s+/g, ' ').trim();
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(({ path, value, meaning }) => {
    const shown = value === undefined ? '' : `\`${JSON.stringify(value)}\``;
    return `| ${[`\`${path}\``, shown, meaning].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  });
  return `| Value | Default | Meaning |\n| --- | --- | --- |\n${lines.join('')}`;
}

/** As the formatter that checks the whole tree wants it. */
function formatted(text: string): string {
  const biome = join(ROOT, 'node_modules', '.bin', 'biome');
  return execFileSync(process.execPath, [biome, 'format', '--stdin-file-path=README.md'], {
    input: text,
    encoding: 'utf8',
  });
}
