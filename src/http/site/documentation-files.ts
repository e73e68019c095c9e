import { join } from 'node:path';
import { PACKAGE_FOLDER } from '../../infra/machine/package-folder.ts';
import { BuiltFiles, filesIn } from './built-files.ts';

/** The files below /docs: the site if it is built (`make docs`), else its Markdown, so that every address leads on. */
export class DocumentationFiles {
  readonly #built: BuiltFiles;

  constructor(root: string = PACKAGE_FOLDER) {
    this.#built = new BuiltFiles(join(root, 'site', 'dist'), async (folder) => {
      const site = await filesIn(folder);
      return site.size > 0 ? site : markdownIn(join(root, 'docs'));
    });
  }

  /**
   * @param path below /docs, without a slash at its beginning; empty for the first page.
   * @param acceptsGzip whether the caller accepts a compressed file.
   * @returns undefined when there is no such file.
   */
  find(path: string, acceptsGzip: () => boolean) {
    const wanted = path.replace(/\/$/, '');
    const page = wanted === '' ? 'index.html' : `${wanted}/index.html`;
    return this.#built.find([wanted, page, `${wanted}.html`, `${wanted}.md`], acceptsGzip);
  }

  /** @returns the names of the Markdown pages below /docs; none when the site is built. */
  async plainPages(): Promise<string[]> {
    const files = await this.#built.files();
    if (files.has('index.html')) return [];
    return [...files.keys()].filter((name) => name.endsWith('.md')).toSorted();
  }
}

/** A README is the page of its folder as well. */
async function markdownIn(folder: string): Promise<Map<string, string>> {
  const files = [...(await filesIn(folder))].filter(([name]) => /\.(?:md|svg|webp)$/.test(name));
  return new Map(
    files.flatMap(([name, file]) => [
      [name, file],
      [name.replace(/\/README\.md$/, '.md'), file],
    ]),
  );
}
