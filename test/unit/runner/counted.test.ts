import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
const LIMIT_MS = 120_000;

const FILES = {
  'good.test.ts': "describe('good', () => { it('passes', () => undefined); });",
  'failing.test.ts':
    "describe('failing', () => { it('passes', () => undefined); it('fails', () => { throw new Error('it is wrong'); }); });",
  'unloadable.test.ts': "import { nothing } from './nowhere.ts';\nit('never runs', nothing);",
  'unreadable.test.ts': "it('never runs', ( => undefined);",
  'leaving.test.ts': "it('ends all', () => process.exit(0));",
  'killed.test.ts': "it('ends all', () => { process.kill(process.pid, 'SIGKILL'); });",
};

interface Ended {
  readonly code: number | string | null | undefined;
  readonly lines: string[];
}

function bash(cwd: string, ...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    // These failures are none of the run that this is part of.
    const env = { ...process.env, PLATEN_TEST_FAILED: '' };
    execFile('bash', args, { cwd, env, timeout: LIMIT_MS }, (error, stdout) =>
      resolve({ code: error === null ? 0 : error.code, lines: stdout.trimEnd().split('\n') }),
    );
  });
}

/** What is counted, and what is said of each failure: what it is, and something of why. */
function assertLast(
  { code, lines }: Ended,
  counts: string,
  ...failures: [what: string, why: RegExp][]
): void {
  const said = lines.slice(-failures.length - 1);
  assert.equal(said.at(-1), counts, lines.join('\n'));
  for (const [i, [what, why]] of failures.entries()) {
    assert.ok(said[i]!.startsWith(`FAILED ${what}: `), lines.join('\n'));
    assert.match(said[i]!, why);
  }
  assert.equal(code === 0, failures.length === 0);
}

describe('Runs of tests', () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'platen-counted-'));
    for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const sumOf = (...steps: string[]) =>
    bash(
      REPOSITORY,
      '-c',
      `. test/counted.sh
      export PATH="$PWD/node_modules/.bin:$PATH"
      { ${steps.map((step) => `${step};`).join(' ')} } >"$0/log" 2>&1
      sum_up "$0/log"`,
      folder,
    );
  const mocha = (...names: string[]) => `run_mocha ${names.map((name) => `"$0/${name}.test.ts"`).join(' ')}`;
  const path = (name: string) => join(folder, `${name}.test.ts`);

  it('are the sum of their steps, with what has failed named', async () => {
    assertLast(await sumOf(mocha('good'), mocha('good')), '2 passed, 0 failed');
    assertLast(await sumOf(mocha('good'), mocha('failing')), '2 passed, 1 failed', [
      'failing fails',
      /it is wrong$/,
    ]);
  });

  it('count one that cannot be loaded, and name it, whatever else has failed', async () => {
    for (const [broken, why] of [
      ['unloadable', /it ended with 1 .*nowhere\.ts.* imported from .*unloadable\.test\.ts/],
      ['unreadable', /it ended with 1 .*unreadable\.test\.ts:1 SyntaxError/],
    ] as const)
      assertLast(
        await sumOf(mocha('failing'), mocha('good', broken)),
        '1 passed, 2 failed',
        ['failing fails', /it is wrong$/],
        [`mocha ${path('good')} ${path(broken)}`, why],
      );
  });

  it('count one that ends before its last line', async () => {
    assertLast(
      await sumOf(mocha('failing'), mocha('leaving'), mocha('killed')),
      '1 passed, 3 failed',
      ['failing fails', /it is wrong$/],
      [`mocha ${path('leaving')}`, /it ended with 0 before it had counted$/],
      [`mocha ${path('killed')}`, /it ended with 137 before it had counted$/],
    );
  });

  it('count a step that is no test only when it fails', async () => {
    assertLast(
      await sumOf('run_step true', mocha('failing'), 'run_step sh -c "exit 3"'),
      '1 passed, 2 failed',
      ['failing fails', /it is wrong$/],
      ['sh -c exit 3', /ended with 3$/],
    );
  });

  it('have failed when nothing was counted', async () => {
    const { code, lines } = await sumOf('run_step true');
    assert.deepEqual([code, lines.at(-1)], [1, '0 passed, 0 failed']);
  });

  it('take the time of each file', async () => {
    const { lines } = await bash(
      REPOSITORY,
      '-c',
      `. test/counted.sh
      export PATH="$PWD/node_modules/.bin:$PATH" PLATEN_TEST_TIMES="$0/times"
      run_mocha "$0/good.test.ts" "$0/failing.test.ts" >/dev/null
      cat "$0/times"`,
      folder,
    );
    assert.match(lines.join('\n'), /^\d+ \d+ \S+good\.test\.ts\n\d+ \d+ \S+failing\.test\.ts$/);
  });

  describe('of CI', () => {
    /** Targets as those of the Makefile, of which two do this. */
    async function ci(test: string, e2e: string): Promise<Ended> {
      const project = await mkdtemp(join(folder, 'ci-'));
      await mkdir(join(project, '.ci'));
      await mkdir(join(project, 'test'));
      await cp(join(REPOSITORY, '.ci/run'), join(project, '.ci/run'));
      await cp(join(REPOSITORY, 'test/counted.sh'), join(project, 'test/counted.sh'));
      await cp(join(REPOSITORY, 'test/run-alone.sh'), join(project, 'test/run-alone.sh'));
      await cp(join(REPOSITORY, 'test/support/reporter.cjs'), join(project, 'test/support/reporter.cjs'));
      await symlink(join(REPOSITORY, 'node_modules'), join(project, 'node_modules'));
      await writeFile(
        join(project, 'Makefile'),
        `.PHONY: advisories test e2e\nadvisories:\n\t@echo none\ntest:\n\t@${test}\ne2e:\n\t@${e2e}\n`,
      );
      return bash(project, '.ci/run');
    }

    const good = "echo '3 passed, 0 failed'";
    const failing = "echo 'FAILED a: b'; echo '1 passed, 0 failed'; echo '2 passed, 1 failed'; exit 1";
    const broken = "echo '1 passed, 0 failed'; echo 'SyntaxError: x'; exit 1";

    it('add what both have counted last', async () => {
      assertLast(await ci(good, good), '6 passed, 0 failed');
      assertLast(await ci(failing, good), '5 passed, 1 failed', ['a', /b$/]);
    });

    it('count one that ends badly without a failure, whatever else has failed', async () => {
      assertLast(
        await ci(failing, broken),
        '3 passed, 2 failed',
        ['a', /b$/],
        ['make e2e', /it ended with 2, and no test had failed$/],
      );
    });

    it('take a failure back whose file passes by itself, and say so', async () => {
      /** Two tests of a file have failed beside others. */
      const failingSet = (name: string, ...titles: string[]) =>
        titles.map((title) => `echo 'FAILED ${title}'; ${noteFailed(name, title)};`).join(' ') +
        ` echo '1 passed, ${titles.length} failed'; exit 1`;
      const noteFailed = (name: string, title: string) =>
        `printf '%s\\t\\t%s\\n' '${path(name)}' '${title}' >>"$$PLATEN_TEST_FAILED"`;
      const { code, lines } = await ci(failingSet('good', 'good a: too late', 'good b: too late'), good);
      assert.deepEqual(
        [code, ...lines.slice(-3)],
        [0, 'PASSED ALONE good a: too late', 'PASSED ALONE good b: too late', '6 passed, 0 failed'],
      );
      assertLast(await ci(failingSet('failing', 'failing fails: it is wrong'), good), '4 passed, 1 failed', [
        'failing fails',
        /it is wrong$/,
      ]);
      assertLast(await ci(failingSet('unloadable', 'a: b'), good), '4 passed, 1 failed', ['a', /b$/]);
      const many = Array.from({ length: 11 }, (_, i) => `good ${i}: too late`);
      const { lines: all } = await ci(failingSet('good', ...many), good);
      assert.equal(all.at(-1), '4 passed, 11 failed');
    });
  });
});
