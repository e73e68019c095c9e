import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PAGES = ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT })];

function read(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** The anchors that GitHub makes of a page's headings, and those that a page sets itself. */
function anchorsOf(page: string): Set<string> {
  const headings = [...read(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading!);
  const set = [...read(page).matchAll(/<a id="(\w+)"><\/a>/g)].map(([, id]) => id!);
  return new Set([
    ...set,
    ...headings.map((heading) =>
      heading
        .replace(/<[^>]*>/g, '')
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  ]);
}

/** Links of a page that lead to no file of the repository, or to no heading of one. */
function danglingIn(page: string): string[] {
  const prose = read(page).replace(/^```.*?^```$/gms, '');
  const links = [...prose.matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
  return links
    .filter(([, path, anchor]) => {
      const target = path === '' ? page : join(dirname(page), path!);
      if (!existsSync(join(ROOT, target))) return true;
      return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor);
    })
    .map(([link]) => `${page}: ${link.slice(2, -1)}`);
}

describe('The pages of documentation', () => {
  it('link to files and headings that are there', () => {
    assert.ok(PAGES.length > 20);
    assert.deepEqual(PAGES.flatMap(danglingIn), []);
  });

  it('are each reached from the README or from a page that it links to', () => {
    const reached = new Set(['README.md']);
    for (const page of reached) {
      for (const [, path] of read(page).matchAll(/\]\((?!\w+:)([^)#\s]+\.md)(?:#[^)\s]+)?\)/g)) {
        const target = join(dirname(page), path!);
        if (existsSync(join(ROOT, target))) reached.add(target);
      }
    }
    const folders = /^docs\/(?:decisions|runbooks|mails)\//;
    assert.deepEqual(
      PAGES.filter((page) => !reached.has(page) && !folders.test(page)),
      [],
    );
  });
});
