/**
 * Makes of the Markdown in docs/ what the site is built from: `site/src/content/docs`, a Markdown copy of each page, pictures and
 * `llms.txt` in `site/public`, and the side bar. The files stay readable where they are.
 */
import { copyFileSync, globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { DocsPage } from '../../src/http/site/docs/docs-page.ts';
import {
  fileNameOf,
  forgotten,
  listForPrograms,
  markdownOf,
  readPages,
} from '../../src/http/site/docs/pages.ts';
import { ROOT } from './root.ts';

const CONTENT = join(ROOT, 'site/src/content/docs');
const PUBLIC = join(ROOT, 'site/public');

const left = await forgotten(ROOT);
if (left.length > 0) throw new Error(`In no group of src/http/site/docs/groups.ts: ${left.join(', ')}`);

rmSync(CONTENT, { recursive: true, force: true });
rmSync(PUBLIC, { recursive: true, force: true });
copy('site/src/favicon.svg', 'favicon.svg');
for (const picture of globSync('docs/**/*.{svg,webp,png}', { cwd: ROOT }))
  copy(picture, relative('docs', picture));
const groups = await readPages(ROOT);
for (const page of groups.flatMap(({ pages }) => pages)) writePage(page);
const sections = groups.map(({ label, within, collapsed, pages }) => ({
  ...{ label, within, collapsed },
  items: pages.map((page): object => ({ label: page.title, slug: fileNameOf(page) })),
}));
for (const section of sections.filter(({ within }) => within !== undefined)) {
  const { within, ...inner } = section;
  sections.find(({ label }) => label === within)?.items.push(inner);
}
write(
  join(ROOT, 'site/src/sidebar.json'),
  JSON.stringify(sections.filter(({ within }) => within === undefined)),
);
const apart = groups.filter(({ forContributors }) => forContributors);
write(
  join(ROOT, 'site/src/contributors.json'),
  JSON.stringify(apart.flatMap(({ pages }) => pages).map(fileNameOf)),
);
write(join(PUBLIC, 'llms.txt'), listForPrograms(groups));

function writePage(page: DocsPage): void {
  const { file, slug, title, description, body } = page;
  const front = { title, description, slug: fileNameOf(page), editUrl: false };
  const lines = Object.entries(front).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const path = basename(file) === 'README.md' ? join(slug, 'README.md') : `${fileNameOf(page)}.md`;
  write(join(CONTENT, path), `---\n${lines.join('\n')}\n---\n\n${body}`);
  write(join(PUBLIC, `${fileNameOf(page)}.md`), markdownOf(page));
}

function copy(from: string, to: string): void {
  const path = join(PUBLIC, to);
  mkdirSync(dirname(path), { recursive: true });
  copyFileSync(join(ROOT, from), path);
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
