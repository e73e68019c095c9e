import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { extname, join, relative } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.json': 'application/json; charset=utf-8',
  '.md': 'text/plain; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};
const OTHER_TYPE = 'application/octet-stream';
/** Names of these files contain a hash of their content. */
const IMMUTABLE = /^(?:_astro|assets)\//;
/** The preferred encoding first. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

type Listing = ReadonlyMap<string, string>;

/**
 * The files of a folder that a build replaces as a whole, with their compressed copies.
 *
 * Only files from the listing of the folder are opened: a requested path never becomes a path of the disk.
 */
export class BuiltFiles {
  readonly #folder: string;
  readonly #list: (folder: string) => Promise<Listing>;
  /** The files by name, and the time when their folder was built. */
  #listed: { readonly builtAt: number; readonly files: Promise<Listing> } | undefined;

  /** @param list lists the files by name; default: those of the folder. */
  constructor(folder: string, list: (folder: string) => Promise<Listing> = filesIn) {
    this.#folder = folder;
    this.#list = list;
  }

  /** @param names the first existing one is used. @returns undefined when none of them exists. */
  async find(names: readonly string[], accepts: (encoding: 'br' | 'gzip') => boolean) {
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

  /** Listed once for each build of the folder. */
  async files(): Promise<Listing> {
    const builtAt = (await stat(this.#folder).catch(() => undefined))?.ctimeMs ?? 0;
    if (this.#listed?.builtAt !== builtAt) this.#listed = { builtAt, files: this.#list(this.#folder) };
    return this.#listed.files;
  }
}

/** All files below a folder, by their names relative to it; none when the folder does not exist. */
export async function filesIn(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return new Map(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => [relative(folder, file), file]),
  );
}
