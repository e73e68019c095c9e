import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A disk of a few megabytes that really gets full: a tmpfs in a separate mount namespace, which no other process sees. */
export interface SmallDisk {
  /** Where programs that run by `runner` see it. */
  readonly folder: string;
  /** Where this process sees it. */
  readonly seen: string;
  /** A program that becomes the one its arguments name, with the disk in sight. */
  readonly runner: string;
  /** Leaves this many bytes free, a page or so more or less; with 0 there is no room for one byte. */
  fill(freeBytes?: number): void;
  /** Makes the room again that `fill` has taken. */
  empty(): void;
  /** Removes the disk, once it is no longer used. */
  close(): void;
}

const BLOCK = Buffer.alloc(4096);

/**
 * @param scratch a folder for the mount point and the runner.
 * @throws Error where neither root may mount nor a user namespace may be made.
 */
export async function makeSmallDisk(scratch: string, bytes: number): Promise<SmallDisk> {
  const folder = join(scratch, 'small disk');
  await mkdir(folder, { recursive: true });
  // As root a mount namespace is enough; everybody else is root in a user namespace first.
  const isRoot = spawnSync('unshare', ['--mount', 'true']).status === 0;
  const namespaces = isRoot ? ['--mount'] : ['--mount', '--user', '--map-root-user'];
  const mount = `mount -t tmpfs -o size=${bytes} tmpfs "$0" && echo mounted && exec cat`;
  const holder = spawn('unshare', [...namespaces, 'sh', '-c', mount, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const mounted = await Promise.race([
    once(holder.stdout, 'data'),
    once(holder, 'exit').then(() => undefined),
  ]);
  if (mounted === undefined)
    throw new Error('This test needs root, or user namespaces that everybody may make.');
  const runner = join(scratch, 'with-small-disk');
  const entering = isRoot ? '--mount' : '--mount --user --preserve-credentials';
  // `exec` all along: its pid is the program's.
  await writeFile(runner, `#!/bin/sh\nexec nsenter --target ${holder.pid} ${entering} --wdns="$PWD" "$@"\n`, {
    mode: 0o755,
  });
  const seen = join(`/proc/${holder.pid}/root`, folder);
  const filler = join(seen, 'filler');
  const spare = join(seen, 'spare');
  return {
    folder,
    seen,
    runner,
    fill(freeBytes = 0) {
      writeBlocks(spare, freeBytes);
      writeBlocks(filler, Number.POSITIVE_INFINITY);
      rmSync(spare, { force: true });
    },
    empty: () => rmSync(filler, { force: true }),
    close: () => holder.stdin.end(),
  };
}

/** As many as that, or as there is room for. */
function writeBlocks(path: string, bytes: number): void {
  const file = openSync(path, 'a');
  try {
    for (let left = bytes; left > 0; left -= BLOCK.length) writeSync(file, BLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}
