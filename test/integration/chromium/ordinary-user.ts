import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { findBrowser } from '../../../src/render/chromium/process/find-browser.ts';

const NOBODY = { uid: 65_534, gid: 65_534 };

export const isRoot = process.getuid?.() === 0;
/** Options of `spawn`. Root can be somebody else for once; everybody else is who he is. */
export const ordinary = isRoot ? NOBODY : {};

/** A browser that an ordinary user may start. @param folder takes a copy of one that is for its owner alone. */
export async function browserOfAll(folder: string): Promise<string> {
  const { path } = await findBrowser({ browserPath: process.env.PLATEN_CHROMIUM_PATH, warn: () => {} });
  if (spawnSync('test', ['-x', path], ordinary).status === 0) return path;
  const copy = join(folder, 'browser');
  cpSync(dirname(path), copy, { recursive: true });
  chmodSync(copy, 0o755);
  return join(copy, basename(path));
}
