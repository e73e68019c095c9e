import { join } from 'node:path';
import type { FileBody } from '../../request/route.ts';
import { BuiltFiles, filesIn } from '../built-files.ts';
import type { DocsGroup, DocsPage } from './docs-page.ts';
import { fileNameOf, listForPrograms, markdownOf, readPages } from './pages.ts';
import { PLAIN_STYLE } from './plain-style.ts';

const HTML = 'text/html; charset=utf-8';
const TEXT = 'text/plain; charset=utf-8';

/** A file of the documentation, ready to be sent. */
export interface SiteFile {
  readonly body: FileBody | Buffer;
  readonly headers: Readonly<Record<string, string>>;
}
/** A file that is made when it is asked for first. */
interface Made {
  readonly type: string;
  readonly make: () => string | Promise<string>;
}

/**
 * The documentation as the service shows it where the site has not been built: each Markdown file as a page, in the order of
 * the site's side bar and at the same addresses. A page is rendered when it is asked for first, and kept.
 */
export class PlainSite {
  readonly #pictures: BuiltFiles;
  readonly #root: string;
  #files: Promise<ReadonlyMap<string, Made>> | undefined;
  readonly #made = new Map<string, Promise<Buffer>>();

  /** @param root the folder of the sources, in which docs/ is. */
  constructor(root: string) {
    this.#root = root;
    this.#pictures = new BuiltFiles(join(root, 'docs'), async (folder) => {
      const files = [...(await filesIn(folder))];
      return new Map(files.filter(([name]) => /\.(?:svg|webp|png)$/.test(name)));
    });
  }

  /**
   * @param path below /docs, without a slash at either end; empty for the first page.
   * @returns undefined when there is no such page or file.
   */
  async find(path: string): Promise<SiteFile | undefined> {
    this.#files ??= readPages(this.#root).then(filesOf, withoutDocumentation);
    // Whoever asks next reads them again.
    this.#files.catch(() => {
      this.#files = undefined;
    });
    const file = (await this.#files).get(path);
    if (file === undefined) return this.#pictures.find([path], () => false);
    const made = this.#made.get(path) ?? (async () => Buffer.from(await file.make()))();
    this.#made.set(path, made);
    return { body: await made, headers: { 'Content-Type': file.type, 'Cache-Control': 'no-cache' } };
  }
}

function filesOf(groups: readonly DocsGroup[]): Map<string, Made> {
  const files = new Map<string, Made>([
    ['plain.css', { type: 'text/css; charset=utf-8', make: () => PLAIN_STYLE }],
    ['llms.txt', { type: TEXT, make: () => listForPrograms(groups) }],
  ]);
  // Loaded with the first page that is asked for: most processes are never asked for one.
  const render = async (page?: DocsPage) => (await import('./plain-page.ts')).plainPage(groups, page);
  files.set('404.html', { type: HTML, make: () => render() });
  for (const page of groups.flatMap(({ pages }) => pages)) {
    files.set(page.slug, { type: HTML, make: () => render(page) });
    files.set(`${fileNameOf(page)}.md`, { type: TEXT, make: () => markdownOf(page) });
  }
  return files;
}

/** A service may be installed without the sources of the documentation. */
function withoutDocumentation(error: NodeJS.ErrnoException): Map<string, Made> {
  if (error.code !== 'ENOENT') throw error;
  return new Map();
}
