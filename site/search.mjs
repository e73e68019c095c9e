import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as pagefind from 'pagefind';
import { keywordsOf, weightOf } from '../scripts/docs-site/search-settings.ts';

/** What pagefind gives headings by itself. */
const HEADING_WEIGHTS = { h1: 7, h2: 6, h3: 5, h4: 4 };
const MOST = 10;
/** The responses of an operation, to which no search is to lead. */
const RESPONSES = /<div class="sl-heading-wrapper[^>]*><h2 id="(?:response-|errors")/;

/**
 * Builds the two searches over the pages of a folder: in `pagefind` that of users, which replaces the one that the theme has
 * built of everything, and in `pagefind-contributors` that of the given pages.
 *
 * @param {string} folder where the built pages are.
 * @param {readonly string[]} contributors where pages are below /docs that only the second search finds.
 */
export async function buildSearches(folder, contributors) {
  const apart = new Set(contributors);
  const pages = globSync('**/index.html', { cwd: folder }).map((file) => ({
    slug: file.replace(/(?:^|\/)index\.html$/, ''),
    html: readFileSync(join(folder, file), 'utf8'),
  }));
  await build(
    join(folder, 'pagefind'),
    pages.filter(({ slug }) => !apart.has(slug)),
  );
  await build(
    join(folder, 'pagefind-contributors'),
    pages.filter(({ slug }) => apart.has(slug)),
  );
  await pagefind.close();
}

async function build(outputPath, pages) {
  const { index } = checked(await pagefind.createIndex({ rootSelector: 'main' }));
  for (const { slug, html } of pages)
    checked(await index.addHTMLFile({ url: slug === '' ? '/' : `/${slug}`, content: weighted(slug, html) }));
  checked(await index.writeFiles({ outputPath }));
}

/** A page as it is indexed. */
function weighted(slug, html) {
  const weight = weightOf(slug);
  const keywords = keywordsOf(slug);
  const hint = keywords === undefined ? '' : `<span data-pagefind-meta="keywords:${keywords}"></span>`;
  const end = slug.startsWith('api/') ? html.search(RESPONSES) : -1;
  const shown = end === -1 ? html : `${html.slice(0, end)}</main></body></html>`;
  return shown
    .replace(/<main([^>]*)>/, `<main$1><div data-pagefind-weight="${weight}">${hint}`)
    .replace('</main>', '</div></main>')
    .replace(/<(h[1-4])(?=[ >])/g, (whole, name) =>
      weight === 1
        ? whole
        : `${whole} data-pagefind-weight="${Math.min(HEADING_WEIGHTS[name] * weight, MOST)}"`,
    );
}

function checked(response) {
  if (response.errors.length > 0) throw new Error(`pagefind: ${response.errors.join(', ')}`);
  return response;
}
