import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
const BIOME = join(REPOSITORY, 'node_modules/.bin/biome');

/** Each is wrong by itself, wherever the domain is. */
const WAYS_ROUND_COLLECTIONS = [
  "connection.collection('jobs');",
  "connection.collection('jobs', {});",
  "connection.collection<Job>('jobs');",
  "connection.collection<Job>('jobs', {});",
  "connection?.collection('jobs');",
  "connection['collection']('jobs');",
  'connection[`collection`](name);',
  "connection.collection.call(connection, 'jobs');",
  'const open = connection.collection;',
  'const { collection } = connection;',
  'const { collection: open } = connection;',
  "const { 'collection': open } = connection;",
  'export const open = ({ collection }: Connection) => collection;',
  '({ collection } = connection);',
  '({ collection: open } = connection);',
  "connection.model('Job');",
  "connection.model('Job', schema, 'jobs');",
  "connection.model<Job>('Job', schema);",
  'connection.models.Job;',
  'connection.db;',
  "connection.useDb('other');",
  'connection.getClient();',
  "connection.createCollection('jobs');",
  'new mongo.MongoClient(uri);',
];

const IMPORTS_ROUND_THE_ADAPTER = [
  "import mongoose from 'mongoose';",
  "import { model } from 'mongoose';",
  "import { Schema } from 'mongoose';",
  "import * as everything from 'mongoose';",
];

const HIDING_CASTS = ['value as never;', 'value as never[];', 'f(value as any);', 'value as any[];'];

const TIMED = [
  'const began = performance.now();',
  'assert.ok(performance.now() - began < 500);',
  'assert.ok(Date.now() - began < 500);',
  'assert.ok(Math.abs(Date.now() - began) < 500);',
  'const used = process.cpuUsage(before);',
  'const at = process.hrtime.bigint();',
];
const UNTIMED = [
  'const yesterday = new Date(Date.now() - DAY_MS);',
  'assert.ok(Date.parse(expiresAt) > Date.now());',
];

const ALLOWED = [
  "import { type Connection, mongo } from 'mongoose';",
  "const spec = { name: 'jobs', collection: 'jobs', model: 1, db: 2 };",
  'new Collection<Job>(connection, spec);',
  'const model = value as unknown;',
];

interface Finding {
  readonly rule: string;
  readonly position: string;
}

/** What Biome finds in each file, under the configuration and the rules of this repository. */
async function lint(files: ReadonlyMap<string, string>): Promise<Finding[]> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'platen-lint-')));
  try {
    for (const kept of ['biome.json', '.gitignore', 'scripts/lint'])
      await cp(join(REPOSITORY, kept), join(root, kept), { recursive: true });
    for (const [file, text] of files) {
      await mkdir(dirname(join(root, file)), { recursive: true });
      await writeFile(join(root, file), text);
    }
    const options = ['lint', '--reporter=github', '--max-diagnostics=none', '--diagnostic-level=error', '.'];
    const output = await new Promise<string>((resolve) => {
      // It ends with 1 when it finds something.
      execFile(BIOME, options, { cwd: root }, (_error, stdout) => resolve(stdout));
    });
    const lines = output.matchAll(/^::error title=([^,]*),file=([^,]*),line=(\d+)/gm);
    return [...lines].map(([, rule, file, line]) => ({
      rule: rule!,
      position: `${relative(root, file!)}:${line}`,
    }));
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** The lines that the rule finds in a file with these lines, and in the same file elsewhere. */
async function found(rule: string, lines: readonly string[], ...files: string[]): Promise<string[][]> {
  const findings = await lint(new Map(files.map((file) => [file, `${lines.join('\n')}\n`])));
  const positions = new Set(findings.filter((one) => one.rule === rule).map(({ position }) => position));
  return files.map((file) => lines.filter((_, i) => positions.has(`${file}:${i + 1}`)));
}

describe('The lint rules of this repository', () => {
  it('find every way to a collection or a model round the adapter, outside src/infra/store', async () => {
    const outside = ['src/work/jobs/x.ts', 'src/http/x.ts', 'src/roles/x.ts'];
    const inside = ['src/infra/store/x.ts', 'src/roles/data-layout/x.ts'];
    const all = await found('plugin', WAYS_ROUND_COLLECTIONS, ...outside, ...inside);
    assert.deepEqual(all, [...outside.map(() => WAYS_ROUND_COLLECTIONS), ...inside.map(() => [])]);
  });

  it('find imports of models, schemas and the driver, outside src/infra/store', async () => {
    const files = [
      'src/work/jobs/x.ts',
      'src/http/x.ts',
      'src/infra/bus/x.ts',
      'src/roles/data-layout/x.ts',
      'src/infra/store/x.ts',
    ];
    const rule = 'lint/style/noRestrictedImports';
    const [store, ...outside] = (await found(rule, IMPORTS_ROUND_THE_ADAPTER, ...files)).reverse();
    for (const some of outside) assert.deepEqual(some, IMPORTS_ROUND_THE_ADAPTER);
    assert.deepEqual(store, []);
  });

  it('find casts that hide what they cast', async () => {
    for (const some of await found(
      'plugin',
      HIDING_CASTS,
      'src/work/jobs/x.ts',
      'src/infra/store/x.ts',
      'test/x.ts',
    ))
      assert.deepEqual(some, HIDING_CASTS);
  });

  it('find what tests measure of time, and not in what is there to measure it', async () => {
    const files = ['test/e2e/x.test.ts', 'test/unit/http/x.test.ts', 'test/bench/x.ts', 'test/support/x.ts'];
    const [e2e, unit, ...elsewhere] = await found('plugin', [...TIMED, ...UNTIMED], ...files);
    for (const inside of [e2e, unit]) assert.deepEqual(inside, TIMED);
    for (const outside of elsewhere) assert.deepEqual(outside, []);
  });

  it('find nothing in what is as it should be', async () => {
    assert.deepEqual(await found('plugin', ALLOWED, 'src/work/jobs/x.ts'), [[]]);
    assert.deepEqual(await found('lint/style/noRestrictedImports', ALLOWED, 'src/work/jobs/x.ts'), [[]]);
  });
});
