import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const DOCUMENT = readFileSync(new URL('../../../docs/architecture.md', import.meta.url), 'utf8');
const SOURCES = new URL('../../../src/', import.meta.url);

/** The files of the numbered lists. */
const STEPS = [...DOCUMENT.matchAll(/^\d+\. `([^`]+)`/gm)].map(([, file]) => file!);

describe('The walk from a request to a PDF', () => {
  it('names files that are there', () => {
    const asked = [...DOCUMENT.matchAll(/`(?:src\/)?([a-z-]+\/[\w/-]+\.ts)`/g)].map(([, file]) => file!);
    assert.ok(STEPS.length > 0);
    const missing = [...STEPS, ...asked].filter((file) => !existsSync(new URL(file, SOURCES)));
    assert.deepEqual(missing, []);
  });
});

describe('The description of the sources', () => {
  it('names every folder of src', () => {
    const folders = readdirSync(SOURCES, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    assert.ok(folders.length > 10);
    const unnamed = folders.filter(({ name }) => !DOCUMENT.includes(`\`src/${name}`));
    assert.deepEqual(unnamed, []);
  });
});

describe('The page on scheduling', () => {
  it('has a row for each policy', () => {
    const page = readFileSync(new URL('../../../docs/scheduling.md', import.meta.url), 'utf8');
    const folder = new URL('infra/scheduling/', SOURCES);
    const policies = readdirSync(folder).filter((file) =>
      /class \w+ extends FairQueue/.test(readFileSync(new URL(file, folder), 'utf8')),
    );
    assert.ok(policies.length > 3);
    assert.deepEqual(
      policies.filter((file) => !page.includes(`| \`${file}\``)),
      [],
    );
  });
});
