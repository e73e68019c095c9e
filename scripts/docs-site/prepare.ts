/**
 * Makes of the Markdown in docs/ what the site is built from: `site/src/content/docs`, a Markdown copy of each page and
 * `llms.txt` in `site/public`, and the side bar. The files stay readable where they are: titles come from their first headings,
 * and their relative links are followed.
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { filesOf, forgotten, GROUPS, ROOT, slugOf } from './pages.ts';

const CONTENT = join(ROOT, 'site/src/content/docs');
const PUBLIC = join(ROOT, 'site/public');
/** Copies are addressed below /docs, and so is the reference that is made of the API document. */
const BASE = '/docs';

interface Page {
  readonly file: string;
  readonly slug: string;
  readonly title: string;
  readonly description: string;
  readonly body: string;
}

const left = forgotten();
if (left.length > 0) throw new Error(`In no group of scripts/docs-site/pages.ts: ${left.join(', ')}`);
const slugs = new Map(
  GROUPS.flatMap(filesOf).map((file) => [file, `${BASE}/${slugOf(file)}`.replace(/\/$/, '')]),
);
slugs.set('docs/openapi.json', `${BASE}/api`);
slugs.set('README.md', BASE);

rmSync(CONTENT, { recursive: true, force: true });
rmSync(PUBLIC, { recursive: true, force: true });
mkdirSync(PUBLIC, { recursive: true });
copyFileSync(join(ROOT, 'site/src/favicon.svg'), join(PUBLIC, 'favicon.svg'));
const groups = GROUPS.map((group) => ({ ...group, pages: filesOf(group).map(readPage) }));
for (const page of groups.flatMap(({ pages }) => pages)) writePage(page);
write(
  join(ROOT, 'site/src/sidebar.json'),
  JSON.stringify(
    groups.map(({ label, collapsed = false, pages }) => ({
      label,
      collapsed,
      items: pages.map(({ slug, title }) => ({ label: title, slug: slug === '' ? 'index' : slug })),
    })),
  ),
);
write(join(PUBLIC, 'llms.txt'), llms());

function readPage(file: string): Page {
  const text = readFileSync(join(ROOT, file), 'utf8').replace(/^<!--.*?-->\n+/s, '');
  const [heading = ''] = /^# .+$/m.exec(text) ?? [];
  if (heading === '') throw new Error(`${file}: no title`);
  const rest = text.replace(`${heading}\n`, '').trimStart();
  const body = outsideFences(rest, (prose) =>
    prose.replace(/(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g, link(file)),
  );
  // A page of several parts has its title above them all.
  const sections = /^# /m.test(stripFences(body))
    ? outsideFences(body, (prose) => prose.replace(/^#/gm, '##'))
    : body;
  const description = plain(/^(?![#|`<\s-])[^\n].*?(?=\n\n|\n*$)/ms.exec(sections)?.[0] ?? '');
  return { file, slug: slugOf(file), title: plain(heading.slice(2)), description, body: sections };
}

/** Rewrites one link of a page: to a page of the site, to a picture beside it, or to nothing where it leads into the sources. */
function link(file: string) {
  return (whole: string, image: string, text: string, target: string): string => {
    if (/^(?:\w+:|#)/.test(target)) return whole;
    const [path = '', anchor] = target.split('#');
    const to = join(dirname(file), path).replace(/\/$/, '');
    if (image !== '') return copyPicture(to, whole, file, path);
    const address = slugs.get(to) ?? slugs.get(`${to}/README.md`);
    if (address === undefined) return text;
    return `[${text}](${address}${anchor === undefined ? '' : `#${anchor}`})`;
  };
}

function copyPicture(from: string, whole: string, file: string, path: string): string {
  const to = join(CONTENT, dirname(pathOf(slugOf(file), file)), path);
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(join(ROOT, from), to);
  return whole;
}

function pathOf(slug: string, file: string): string {
  return basename(file) === 'README.md' ? join(slug, 'README.md') : `${slug === '' ? 'index' : slug}.md`;
}

function writePage({ file, slug, title, description, body }: Page): void {
  const front = { title, description, slug: slug === '' ? 'index' : slug, editUrl: false };
  const lines = Object.entries(front).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  write(join(CONTENT, pathOf(slug, file)), `---\n${lines.join('\n')}\n---\n\n${body}`);
  write(join(PUBLIC, `${slug === '' ? 'index' : slug}.md`), `# ${title}\n\n${body}`);
}

/** The list of pages in the form that programs which read documentation look for (llmstxt.org). */
function llms(): string {
  const sections = groups.map(({ label, pages }) => {
    const lines = pages.map(
      ({ slug, title, description }) =>
        `- [${title}](${BASE}/${slug === '' ? 'index' : slug}.md)${description === '' ? '' : `: ${description}`}`,
    );
    return `## ${label}\n\n${lines.join('\n')}\n`;
  });
  return `# Platen

> Turns HTML, web pages and templates into PDFs, by HTTP: for many accounts, one document at a time or in batches.

The whole interface as OpenAPI 3.1: [openapi.json](/openapi.json)

${sections.join('\n')}`;
}

function outsideFences(text: string, change: (prose: string) => string): string {
  return text
    .split(/(^ *```.*?^ *```$)/ms)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join('');
}

function stripFences(text: string): string {
  return outsideFences(text, (prose) => prose).replace(/^ *```.*?^ *```$/gms, '');
}

function plain(markdown: string): string {
  return markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
