import { z } from 'zod';
import { defineOption } from './core/option.ts';

/**
 * Most prints. Filling in a number may move later content to another page; after this many prints the numbers are
 * final.
 */
const MOST_PRINTS = 3;

/**
 * Runs in the document: fills the page number of each link's destination into the link's marked elements. Returns
 * whether any number has changed.
 */
const FILL = `(pages) => {
  let changed = false;
  const [own] = document.baseURI.split('#');
  for (const mark of document.querySelectorAll('a[href*="#"] [data-page]')) {
    const { hash, href } = mark.closest('a');
    if (href.split('#')[0] !== own) continue;
    let name = hash.slice(1);
    try { name = decodeURIComponent(name); } catch { /* It is a name as it is. */ }
    const page = Object.hasOwn(pages, name) ? pages[name] : pages[hash.slice(1)];
    const text = page === undefined ? '' : String(page);
    if (mark.textContent === text) continue;
    mark.textContent = text;
    changed = true;
  }
  return changed;
}`;

export const tableOfContents = defineOption('tableOfContents', z.boolean(), {
  stage: 'print',
  documentation:
    'Fill in page numbers: each element with the attribute data-page in a link within the document, such as ' +
    '`<a href="#sums">Sums <span data-page></span></a>`, gets the number of the page that the link leads to.',
  default: false,
  order: 3,
  rules: [
    {
      error: 'must not be given with pageRanges: leave one of them out, such as {"tableOfContents": true}',
      holds: (options) => options.tableOfContents !== true || options.pageRanges === undefined,
    },
  ],
  async afterPrint(_value, stage) {
    for (let prints = 1; prints < MOST_PRINTS; prints += 1) {
      const changed = await stage.page.runIsolated<boolean>(FILL, await stage.destinations());
      if (!changed) return;
      await stage.print();
    }
  },
});
