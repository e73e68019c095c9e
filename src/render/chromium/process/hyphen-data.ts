import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { PACKAGE_FOLDER } from '../../../infra/machine/package-folder.ts';
import type { BrowserBinary } from './browser-binary.ts';

/**
 * Dictionaries for `hyphens: auto`. A headless shell looks for them in the folder of its program
 * (`HeadlessContentBrowserClient::GetHyphenationDictionary`), a full Chromium among the components in its user data
 * (`HyphenationComponentInstallerPolicy`). Both call the folder so.
 */
const NAME = 'hyphen-data';
/** Where `make` puts them: beside the compiled service. */
const COMPILED = join(PACKAGE_FOLDER, 'dist', NAME);
/** The last file of them that is written. Its version is the name that a full Chromium wants the folder to have. */
const MANIFEST = 'manifest.json';

/** The dictionaries of languages that are written with another language's, as Chromium maps them. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  nb: ['no'],
  'und-ethi': ['am', 'byn', 'gez', 'ti', 'wal'],
};

/**
 * Gives the dictionaries to a headless shell whose folder is Platen's own, by a link. Nothing is done before they are
 * compiled, or if the folder has some that are no link.
 *
 * @param folder that of the program, which other processes may be linking too.
 */
export function linkDictionaries(folder: string): void {
  const link = join(folder, NAME);
  const present = lstatSync(link, { throwIfNoEntry: false });
  if (!existsSync(join(COMPILED, MANIFEST)) || present?.isSymbolicLink() === false) return;
  if (present && readlinkSync(link) === COMPILED) return;
  const made = `${link}.${process.pid}`;
  try {
    rmSync(made, { force: true });
    symlinkSync(COMPILED, made);
    renameSync(made, link);
  } catch {
    // The folder cannot be written, so dictionariesOf will find none.
  }
}

/** Gives the dictionaries to a full Chromium that is about to start. */
export function addDictionaries(userData: string): void {
  let manifest: string;
  try {
    manifest = readFileSync(join(COMPILED, MANIFEST), 'utf8');
  } catch {
    return;
  }
  const { version } = JSON.parse(manifest) as { version: string };
  mkdirSync(join(userData, NAME));
  symlinkSync(COMPILED, join(userData, NAME, version));
}

/** What a browser has of dictionaries. */
export interface Dictionaries {
  readonly folder: string;
  /** Languages that it breaks words of: the first part of a language tag, in lower case. Empty without the folder. */
  readonly languages: readonly string[];
}

/** @param pid of the browser itself, which a script may have started. */
export function dictionariesOf({ kind, path }: BrowserBinary, pid: number): Dictionaries {
  const folder = kind === 'full' ? COMPILED : join(programFolder(path, pid), NAME);
  let files: string[];
  try {
    files = readdirSync(folder);
  } catch {
    return { folder, languages: [] };
  }
  const locales = files.flatMap((file) => /^hyph-(.+)\.hyb$/.exec(file)?.[1] ?? []);
  const languages = locales.flatMap((locale) => [locale.split('-')[0]!, ...(ALIASES[locale] ?? [])]);
  return { folder, languages: [...new Set(languages)].filter((language) => language !== 'und') };
}

function programFolder(path: string, pid: number): string {
  try {
    return dirname(readlinkSync(`/proc/${pid}/exe`));
  } catch {
    // There is no /proc, as on a Mac.
    return dirname(realpathSync(path));
  }
}
