import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const REPOSITORY = new URL('../../../', import.meta.url);
const MAKEFILE = readFileSync(new URL('Makefile', REPOSITORY), 'utf8');

const isThere = (path: string) => existsSync(fileURLToPath(new URL(path, REPOSITORY)));

describe('the Makefile', () => {
  for (const [what, pattern] of [
    ['bench', /\$\(or \$\(BENCH_PART\),([^)]+)\)/],
    ['soak', /\$\(or \$\(SOAK_PART\),([^)]+)\)/],
  ] as const) {
    it(`has a file for every part of make ${what}`, () => {
      const names = pattern.exec(MAKEFILE)![1]!.split(' ');
      assert.ok(names.length > 1);
      assert.deepEqual(
        names.filter((part) => !isThere(`test/${what}/${part}.ts`)),
        [],
      );
    });
  }

  it('runs scripts and tests that are there', () => {
    const paths = [...MAKEFILE.matchAll(/\b(?:scripts|test)\/[\w./-]+\.(?:ts|mjs|sh|txt)\b/g)].map(
      ([path]) => path,
    );
    assert.ok(paths.length > 10);
    assert.deepEqual(
      paths.filter((path) => !isThere(path)),
      [],
    );
  });
});
