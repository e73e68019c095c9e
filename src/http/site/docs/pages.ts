import { glob, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { referenceGroups } from './api-reference.ts';
import type { DocsGroup, DocsPage } from './docs-page.ts';
import { GROUPS, type Group } from './groups.ts';

/** What every address of the documentation begins with. */
export const BASE = '/docs';
/** Below `BASE`, the name of the first page. */
const FIRST = 'index';

/** The group after which the reference of the API is shown. */
const BEFORE_API = 'Reference';

/**
 * Reads every page. Titles come from the first headings of the files, relative links lead to the pages of their files, and
 * those that lead into the sources become plain text.
 *
 * @param root the folder of the sources.
 * @throws Error for a file without a title.
 */
export async function readPages(root: string): Promise<DocsGroup[]> {
  const listed = await Promise.all(
    GROUPS.map(async (group) => ({ group, files: await filesOf(group, root) })),
  );
  const addresses = new Map(
    listed.flatMap(({ files }) => files).map((file) => [file, addressOf(slugOf(file))]),
  );
  addresses.set('docs/openapi.json', `${BASE}/api`);
  addresses.set('README.md', BASE);
  const document = await readFile(join(root, 'docs/openapi.json'), 'utf8').then(JSON.parse);
  const groups = await Promise.all(
    listed.map(async ({ group: { label, collapsed = false, forContributors = false }, files }) => ({
      ...{ label, collapsed, forContributors },
      pages: await Promise.all(
        files.map(async (file) => pageOf(file, await readFile(join(root, file), 'utf8'), addresses)),
      ),
    })),
  );
  return groups.flatMap((group) =>
    group.label === BEFORE_API ? [group, ...referenceGroups(document)] : [group],
  );
}

/** @returns the Markdown files of `docs/` that are in no group. */
export async function forgotten(root: string): Promise<string[]> {
  const listed = new Set((await Promise.all(GROUPS.map((group) => filesOf(group, root)))).flat());
  return (await found('docs/**/*.md', root)).filter((file) => !listed.has(file));
}

/** @returns the path of a page, such as `/docs/errors`. */
export function addressOf(slug: string): string {
  return slug === '' ? BASE : `${BASE}/${slug}`;
}

/** @returns the name of a page's file below `BASE`, without its extension: `index` for the first page. */
export function fileNameOf({ slug }: DocsPage): string {
  return slug === '' ? FIRST : slug;
}

/** @returns a page as Markdown, for programs. */
export function markdownOf({ title, body }: DocsPage): string {
  return `# ${title}\n\n${body}`;
}

/** @returns the list of pages in the form that programs which read documentation look for (llmstxt.org). */
export function listForPrograms(groups: readonly DocsGroup[]): string {
  const sections = groups.map(({ label, pages }) => {
    const lines = pages.map((page) => {
      const meaning = page.description === '' ? '' : `: ${page.description}`;
      return `- [${page.title}](${BASE}/${fileNameOf(page)}.md)${meaning}\n`;
    });
    return `## ${label}\n\n${lines.join('')}`;
  });
  return `# Platen

> Turns HTML, web pages and templates into PDFs, by HTTP: for many accounts, one document at a time or in batches.

The whole interface as OpenAPI 3.1: [openapi.json](/openapi.json)

${sections.join('\n')}`;
}

async function filesOf({ files }: Group, root: string): Promise<string[]> {
  return (await Promise.all(files.map((pattern) => found(pattern, root)))).flat();
}

async function found(pattern: string, root: string): Promise<string[]> {
  const files: string[] = [];
  for await (const file of glob(pattern, { cwd: root })) files.push(file);
  return files.toSorted();
}

/** @returns where a file's page is below `BASE`: `docs/errors.md` → `errors`; empty for the first page. */
export function slugOf(file: string): string {
  if (file === 'docs/guide/index.md') return '';
  return file
    .replace(/^docs\//, '')
    .replace(/\.md$/, '')
    .replace(/\/README$/, '');
}

function pageOf(file: string, source: string, addresses: ReadonlyMap<string, string>): DocsPage {
  const text = source.replace(/^<!--.*?-->\n+/s, '');
  const [heading] = /^# .+$/m.exec(text) ?? [];
  if (heading === undefined) throw new Error(`${file}: no title`);
  const linked = outsideFences(text.replace(`${heading}\n`, '').trimStart(), (prose) =>
    prose.replace(/(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g, followed(file, addresses)),
  );
  // A page of several parts has its title above them all.
  const body = /^# /m.test(withoutFences(linked))
    ? outsideFences(linked, (prose) => prose.replace(/^#/gm, '##'))
    : linked;
  return {
    file,
    slug: slugOf(file),
    title: plain(heading.slice(2)),
    description: firstParagraph(body),
    body,
  };
}

/** Rewrites one link of a page: to a page of the documentation, to a picture below docs/, or to its mere text. */
function followed(file: string, addresses: ReadonlyMap<string, string>) {
  return (whole: string, image: string, text: string, target: string): string => {
    if (/^(?:\w+:|#)/.test(target)) return whole;
    const [path = '', anchor] = target.split('#');
    const to = join(dirname(file), path).replace(/\/$/, '');
    if (image !== '') return `![${text}](${to.replace(/^docs/, BASE)})`;
    const address = addresses.get(to) ?? addresses.get(`${to}/README.md`);
    if (address === undefined) return text;
    return `[${text}](${address}${anchor === undefined ? '' : `#${anchor}`})`;
  };
}

/** The whole sentences of the first paragraph that has any, but for what has to be at hand before the page is followed. */
function firstParagraph(markdown: string): string {
  const paragraphs = withoutFences(markdown)
    .split(/\n{2,}/)
    .filter((text) => /^(?![#|<\s]|[-*] |\d+\. )./.test(text))
    .map(plain);
  // What leads to a list or an example says little without it.
  const whole = paragraphs.map((text) => /^.*[.!?]\)?(?=\s|$)/s.exec(text)?.[0] ?? '');
  const first = whole.find((text) => text !== '') ?? paragraphs[0] ?? '';
  return first.replace(/ You need KEY.*?\./, '');
}

function outsideFences(text: string, change: (prose: string) => string): string {
  return text
    .split(/(^ *```.*?^ *```$)/ms)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join('');
}

function withoutFences(text: string): string {
  return text.replace(/^ *```.*?^ *```$/gms, '');
}

function plain(markdown: string): string {
  return markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}
