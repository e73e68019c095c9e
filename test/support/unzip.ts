import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const SCRIPT = fileURLToPath(new URL('./unzip.py', import.meta.url));
const run = promisify(execFile);

export interface Unzipped {
  readonly name: string;
  readonly size: number;
  /** Hex; null when it was not read. */
  readonly sha256: string | null;
  /** Year, month, day, hour, minute, second. */
  readonly date: readonly number[];
}

/**
 * The content of a zip by another implementation; fails when a checksum is wrong.
 *
 * @param only names of the files to read; default all.
 */
export async function unzipFile(path: string, ...only: string[]): Promise<Unzipped[]> {
  const { stdout } = await run('python3', [SCRIPT, path, ...only], { maxBuffer: 64 * 1024 * 1024 });
  const found = JSON.parse(stdout) as [string, number, string | null, number[]][];
  return found.map(([name, size, sha256, date]) => ({ name, size, sha256, date }));
}

export async function unzip(bytes: Uint8Array): Promise<Unzipped[]> {
  const folder = await mkdtemp(join(tmpdir(), 'platen-zip-'));
  try {
    await writeFile(join(folder, 'x.zip'), bytes);
    return await unzipFile(join(folder, 'x.zip'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
