import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { readSources, sourceFile } from '../../../scripts/house/imports.ts';
import { circlesOf, floorsOf, roomsOf } from '../../../scripts/house/rooms.ts';
import { violationsOf } from '../../../scripts/house/violations.ts';

const SOURCES = fileURLToPath(new URL('../../../src/', import.meta.url));

/** Files with a line of code each. */
const tree = (files: Readonly<Record<string, string>>) =>
  Object.entries(files).map(([path, text]) => sourceFile(path, `${text}\n`));

describe('The rules for what may import what', () => {
  it('hold for the sources', () => {
    const sources = readSources(SOURCES);
    assert.ok(sources.length > 500);
    assert.deepEqual(violationsOf(sources), []);
    assert.equal(circlesOf(roomsOf('', sources)).length, 0);
  });

  it('find an import of a wing above or beside, types and calls of import() included', () => {
    for (const code of [
      "import { app } from '../../http/app.ts';",
      "import type { App } from '../../http/app.ts';",
      "const { app } = await import('../../http/app.ts');",
      "export { app } from '../../http/app.ts';",
    ]) {
      const files = { 'billing/stripe/a.ts': code, 'http/app.ts': '' };
      assert.deepEqual(violationsOf(tree(files)), [
        'src/billing/stripe/a.ts imports src/http/app.ts, which is not below it',
      ]);
    }
    const sameFloor = { 'billing/a.ts': "import { b } from '../worker/b.ts';", 'worker/b.ts': '' };
    assert.equal(violationsOf(tree(sameFloor)).length, 1);
    const below = { 'billing/a.ts': "import { b } from '../work/b.ts';", 'work/b.ts': '' };
    assert.deepEqual(violationsOf(tree(below)), []);
  });

  it('find folders and files of a folder that import each other in a circle, in any depth', () => {
    const files = {
      'work/jobs/a.ts': "import { b } from '../batches/deep/b.ts';",
      'work/batches/deep/b.ts': '',
      'work/batches/c.ts': "import { d } from '../jobs/d.ts';",
      'work/jobs/d.ts': '',
    };
    const [violation, ...more] = violationsOf(tree(files));
    assert.match(violation!, /^In src\/work, jobs, batches import each other in a circle:/);
    assert.match(violation!, /src\/work\/batches\/c\.ts imports src\/work\/jobs\/d\.ts/);
    assert.deepEqual(more, []);
  });

  it('find a package outside the folders that speak to it, and a wing that is on no floor', () => {
    assert.deepEqual(violationsOf(tree({ 'work/a.ts': "import express from 'express';" })), [
      'src/work/a.ts imports express, which is imported in: src/http',
    ]);
    assert.match(violationsOf(tree({ 'attic/a.ts': '' }))[0]!, /src\/attic is on no floor/);
  });

  it('count floors from the ground up', () => {
    const rooms = roomsOf(
      'work',
      tree({
        'work/a.ts': "import { b } from './b/b.ts';",
        'work/b/b.ts': "import { c } from '../c/c.ts';",
        'work/c/c.ts': '',
      }),
    );
    assert.deepEqual(Object.fromEntries(floorsOf(rooms)), { 'a.ts': 3, b: 2, c: 1 });
  });
});
