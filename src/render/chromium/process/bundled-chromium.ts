import {
  accessSync,
  constants,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createBrotliDecompress } from 'node:zlib';
import { PACKAGE_FOLDER } from '../../../infra/machine/package-folder.ts';
import { linkDictionaries } from './hyphen-data.ts';
import { unpackTar } from './unpack-tar.ts';

const PACKAGE = '@sparticuz/chromium';
const BINARY = 'chromium-headless-shell';

/**
 * The browser of the @sparticuz/chromium package: brotli files, unpacked once per version and user. The package's own
 * unpacking always writes to /tmp/chromium, whichever user owns that, and takes a half-written file for a whole one; so
 * only its files are used, and not its fonts.
 *
 * @returns the path of its headless shell; undefined when the package is not installed or has no build for this machine.
 */
export async function bundledChromium(): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined;
  const packed = packedFolder();
  if (!packed) return undefined;
  const folder = join(cacheRoot(), `chromium-${packed.version}-${process.arch}`);
  if (!existsSync(folder)) await unpack(packed.folder, folder);
  linkDictionaries(folder);
  return join(folder, BINARY);
}

function packedFolder(): { folder: string; version: string } | undefined {
  let root: string;
  try {
    root = dirname(dirname(fileURLToPath(import.meta.resolve(PACKAGE))));
  } catch {
    return undefined;
  }
  const folder = [join(root, 'bin', process.arch), join(root, 'bin')].find((candidate) =>
    existsSync(join(candidate, 'chromium.br')),
  );
  if (!folder) return undefined;
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return { folder, version };
}

/** Unpacks beside the final folder and moves the result in one step: two processes may do this at once. */
async function unpack(packed: string, folder: string): Promise<void> {
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
  const work = mkdtempSync(`${folder}.`);
  try {
    const binary = createWriteStream(join(work, BINARY), { mode: 0o755 });
    await pipeline(createReadStream(join(packed, 'chromium.br')), createBrotliDecompress(), binary);
    const libraries = join(packed, 'swiftshader.tar.br');
    if (existsSync(libraries))
      await pipeline(createReadStream(libraries), createBrotliDecompress(), unpackTar(work));
    renameSync(work, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The project's own cache folder; if it cannot be written, a folder of the user's in the temporary folder. */
function cacheRoot(): string {
  const own = join(PACKAGE_FOLDER, '.cache');
  try {
    mkdirSync(own, { recursive: true });
    accessSync(own, constants.W_OK);
    return own;
  } catch {
    return ownTemporaryFolder();
  }
}

/** @throws Error when the folder belongs to another user, since that user could put any program there. */
function ownTemporaryFolder(): string {
  const uid = process.getuid?.() ?? -1;
  const folder = join(tmpdir(), `platen-cache-${uid}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (statSync(folder).uid !== uid) throw new Error(`${folder} belongs to somebody else.`);
  return folder;
}
