import { join } from 'node:path';
import { PACKAGE_FOLDER } from '../../infra/machine/package-folder.ts';
import type { Documentation } from '../api-deps.ts';
import { BuiltFiles } from './built-files.ts';
import { PlainSite, type SiteFile } from './docs/plain-site.ts';

/** The files below /docs: the site if it is built (`make docs`), else pages rendered here, at the same addresses. */
export class DocumentationFiles implements Documentation {
  readonly #built: BuiltFiles;
  readonly #plain: PlainSite;

  constructor(root: string = PACKAGE_FOLDER) {
    this.#built = new BuiltFiles(join(root, 'site', 'dist'));
    this.#plain = new PlainSite(root);
  }

  /**
   * @param path below /docs, without a slash at its beginning; empty for the first page.
   * @param acceptsGzip whether the caller accepts a compressed file.
   * @returns undefined when there is no such file.
   */
  async find(path: string, acceptsGzip: () => boolean): Promise<SiteFile | undefined> {
    const wanted = path.replace(/\/$/, '');
    const isBuilt = (await this.#built.files()).has('index.html');
    if (!isBuilt) return this.#plain.find(wanted);
    const page = wanted === '' ? 'index.html' : `${wanted}/index.html`;
    return this.#built.find([wanted, page, `${wanted}.html`], acceptsGzip);
  }
}
