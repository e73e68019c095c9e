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
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createBrotliDecompress } from 'node:zlib';
import type { BrowserBinary } from './browser-binary.ts';
import { linkDictionaries } from './hyphen-data.ts';
import { unpackTar } from './unpack-tar.ts';

const PACKAGE = '@sparticuz/chromium';
const BINARY = 'chromium-headless-shell';

/** The system's fonts, then those of the package: the browser renders on a system without fonts too. */
const FONT_SETTINGS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>/usr/share/fonts</dir>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
  <cachedir prefix="relative">font-cache</cachedir>
</fontconfig>
`;

/**
 * The browser of the @sparticuz/chromium package: brotli files, unpacked once per version and user. The package's own
 * unpacking always writes to /tmp/chromium, whichever user owns that, and takes a half-written file for a whole one; so
 * only its files are used.
 *
 * @returns undefined when the package is not installed or has no build for this machine.
 */
export async function bundledChromium(): Promise<BrowserBinary | undefined> {
  if (process.platform !== 'linux') return undefined;
  const packed = packedFolder();
  if (!packed) return undefined;
  const folder = join(cacheRoot(), `chromium-${packed.version}-${process.arch}`);
  if (!existsSync(folder)) await unpack(packed.folder, folder);
  linkDictionaries(folder);
  return {
    path: join(folder, BINARY),
    kind: 'shell',
    env: { FONTCONFIG_FILE: join(folder, 'fonts.conf') },
  };
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

/**
 * Unpacks next to the final folder and moves the result there in one step, since two processes may do this
 * concurrently.
 */
async function unpack(packed: string, folder: string): Promise<void> {
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
  const work = mkdtempSync(`${folder}.`);
  try {
    const binary = createWriteStream(join(work, BINARY), { mode: 0o755 });
    await pipeline(createReadStream(join(packed, 'chromium.br')), createBrotliDecompress(), binary);
    for (const archive of ['fonts.tar.br', 'swiftshader.tar.br']) {
      const path = join(packed, archive);
      if (existsSync(path)) {
        await pipeline(createReadStream(path), createBrotliDecompress(), unpackTar(work));
      }
    }
    writeFileSync(join(work, 'fonts.conf'), FONT_SETTINGS);
    renameSync(work, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The project's own cache folder; if it cannot be written, a folder of the user's in the temporary folder. */
function cacheRoot(): string {
  const own = join(import.meta.dirname, '..', '..', '..', '..', '.cache');
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
