import type { DocsGroup, DocsPage } from './docs-page.ts';
import { escapeHtml, type Heading, renderMarkdown } from './markdown.ts';
import { addressOf, BASE, fileNameOf } from './pages.ts';

/** Of a page with fewer headings nobody needs a list of them. */
const WORTH_A_LIST = 4;

/**
 * A page of the documentation, without any script.
 *
 * @param groups all pages, for the side bar.
 * @param page that which is shown; undefined where there is none at the address.
 */
export function plainPage(groups: readonly DocsGroup[], page?: DocsPage): string {
  if (page === undefined)
    return frame(groups, undefined, 'Page not found', '<p>The documentation has no such page.</p>');
  const { html, headings } = renderMarkdown(page.body);
  return frame(groups, page, page.title, contents(headings) + html + neighbours(groups, page));
}

function frame(
  groups: readonly DocsGroup[],
  page: DocsPage | undefined,
  title: string,
  main: string,
): string {
  const markdown =
    page === undefined ? '' : `<a href="${BASE}/${fileNameOf(page)}.md">This page as Markdown</a>. `;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${escapeHtml(page?.description ?? '')}">
<title>${escapeHtml(title)} · Platen</title>
<link rel="icon" type="image/png" href="${BASE}/favicon.png">
<link rel="stylesheet" href="${BASE}/plain.css">
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="brand" href="${BASE}">Platen</a>
<a class="menu" href="#pages">Pages</a>
<a href="${BASE}/api">API</a>
<a href="/dashboard">Dashboard</a>
</header>
<main id="content">
<h1>${escapeHtml(title)}</h1>
${main}
<p class="about">${markdown}<code>make docs</code> builds these pages as a site with search.</p>
</main>
<nav id="pages" aria-label="Pages">
${groups.map((group) => section(group, page)).join('')}
</nav>
</body>
</html>
`;
}

function section({ label, within, collapsed, pages }: DocsGroup, shown: DocsPage | undefined): string {
  const isHere = pages.some((page) => page === shown);
  // The overview lists what is in the groups within another one.
  if (within !== undefined && !isHere) return '';
  const items = pages.map((page) => {
    const current = page === shown ? ' aria-current="page"' : '';
    return `<li><a href="${addressOf(page.slug)}"${current}>${escapeHtml(page.title)}</a></li>`;
  });
  const open = !collapsed || isHere;
  return `<details${open ? ' open' : ''}><summary>${escapeHtml(label)}</summary><ul>${items.join('')}</ul></details>\n`;
}

function contents(headings: readonly Heading[]): string {
  if (headings.length < WORTH_A_LIST) return '';
  const items = headings
    .filter(({ rank }) => rank < 4)
    .map(({ rank, anchor, text }) => `<li class="rank-${rank}"><a href="#${anchor}">${text}</a></li>`);
  return `<details class="contents"><summary>On this page</summary><ul>${items.join('')}</ul></details>\n`;
}

function neighbours(groups: readonly DocsGroup[], page: DocsPage): string {
  const pages = groups.flatMap((group) => group.pages);
  const at = pages.indexOf(page);
  const link = (to: DocsPage | undefined, rel: string, word: string) =>
    to === undefined
      ? ''
      : `<a rel="${rel}" href="${addressOf(to.slug)}">${word}: ${escapeHtml(to.title)}</a>`;
  return `<nav class="neighbours" aria-label="Neighbouring pages">${link(pages[at - 1], 'prev', 'Before')}${link(pages[at + 1], 'next', 'Next')}</nav>\n`;
}
