import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, type DefaultTreeAdapterTypes as Tree } from 'parse5';

/** What a page links to and can be linked at. */
interface Links {
  readonly targets: Set<string>;
  readonly ids: Set<string>;
}

/**
 * Links of a built site that lead to no file of it, or to no place on a page.
 *
 * @param folder what is served at /docs.
 * @param elsewhere addresses that something else serves.
 */
export function findBrokenLinks(folder: string, elsewhere: readonly string[]): string[] {
  const pages = new Map(
    globSync('**/*.html', { cwd: folder }).map((file) => [
      `/docs/${file.replace(/(?:^|\/)index\.html$/, '').replace(/\.html$/, '')}`.replace(/\/$/, ''),
      read(readFileSync(join(folder, file), 'utf8')),
    ]),
  );
  const served = (path: string) =>
    pages.has(path) || (path.startsWith('/docs/') && existsSync(join(folder, path.slice('/docs/'.length))));
  const broken: string[] = [];
  for (const [page, { targets }] of pages) {
    for (const target of targets) {
      // Addresses elsewhere are examples for the most part, and cannot be tried without a network.
      if (/^\w+:/.test(target)) continue;
      const url = new URL(target, `http://site${page}`);
      const path = decodeURIComponent(url.pathname).replace(/(.)\/$/, '$1');
      const anchor = decodeURIComponent(url.hash.slice(1));
      const whole =
        elsewhere.includes(path) ||
        (served(path) && (anchor === '' || (pages.get(path)?.ids.has(anchor) ?? false)));
      if (!whole) broken.push(`${page}: ${target}`);
    }
  }
  return broken;
}

function read(text: string): Links {
  const links: Links = { targets: new Set(), ids: new Set() };
  const visit = (node: Tree.Node): void => {
    if ('attrs' in node) {
      for (const { name, value } of node.attrs) {
        if (name === 'id') links.ids.add(value);
        else if (name === 'href' || name === 'src') links.targets.add(value);
      }
    }
    for (const child of 'childNodes' in node ? node.childNodes : []) visit(child);
  };
  visit(parse(text));
  return links;
}
