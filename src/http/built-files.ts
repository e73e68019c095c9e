import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { extname, join, relative } from 'node:path';
import type { FileBody } from './route.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.json': 'application/json; charset=utf-8',
  '.md': 'text/plain; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};
const OTHER_TYPE = 'application/octet-stream';
/** Names of these files hold a hash of what is in them. */
const IMMUTABLE = /^(?:_astro|assets)\//;
/** The best first. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

type Listing = ReadonlyMap<string, string>;

/** A file that was built, ready to be sent. */
interface BuiltFile {
  readonly body: FileBody;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The files of a folder that a build replaces as a whole, each beside its compressed copies.
 *
 * Only files that were there when they were listed are ever opened: what a path holds never becomes a path of the disk.
 */
export class BuiltFiles {
  readonly #folder: string;
  readonly #list: (folder: string) => Promise<Listing>;
  /** Files by their names, and when the folder that they are of was built. */
  #listed: { readonly builtAt: number; readonly files: Promise<Listing> } | undefined;

  /** @param list finds the files by their names; those of the folder unless said otherwise. */
  constructor(folder: string, list: (folder: string) => Promise<Listing> = filesIn) {
    this.#folder = folder;
    this.#list = list;
  }

  /**
   * @param names of which the first that there is counts.
   * @param accepts whether the caller takes a file that is compressed so.
   * @returns undefined when there is none.
   */
  async find(
    names: readonly string[],
    accepts: (encoding: 'br' | 'gzip') => boolean,
  ): Promise<BuiltFile | undefined> {
    const files = await this.files();
    const name = names.find((candidate) => files.has(candidate));
    if (name === undefined) return undefined;
    const compressed = ENCODINGS.filter(([, suffix]) => files.has(name + suffix));
    const [encoding, suffix = ''] = compressed.find(([each]) => accepts(each)) ?? [];
    const file = files.get(name + suffix)!;
    const { size } = await stat(file);
    return {
      body: { size, stream: createReadStream(file) },
      headers: {
        'Content-Type': TYPES[extname(name)] ?? OTHER_TYPE,
        'Cache-Control': IMMUTABLE.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
        ...(compressed.length > 0 && { Vary: 'Accept-Encoding' }),
        ...(encoding !== undefined && { 'Content-Encoding': encoding }),
      },
    };
  }

  /** Listed once for each time that the folder is built. */
  async files(): Promise<Listing> {
    const builtAt = (await stat(this.#folder).catch(() => undefined))?.ctimeMs ?? 0;
    if (this.#listed?.builtAt !== builtAt) this.#listed = { builtAt, files: this.#list(this.#folder) };
    return this.#listed.files;
  }
}

/** All files below a folder, by their names there; none where there is no such folder. */
export async function filesIn(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return new Map(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => [relative(folder, file), file]),
  );
}
