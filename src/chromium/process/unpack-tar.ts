import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const BLOCK = 512;

/** Writes the regular files of a ustar archive (POSIX.1-1988) under `folder`; every other kind of entry is left out. */
export function unpackTar(archive: Buffer, folder: string): void {
  for (let at = 0; at + BLOCK <= archive.length; ) {
    const header = archive.subarray(at, at + BLOCK);
    const name = text(header, 0, 100);
    if (name === '') return;
    const size = Number.parseInt(text(header, 124, 12).trim() || '0', 8);
    const isFile = ['', '0'].includes(text(header, 156, 1));
    const path = normalize(join('/', text(header, 345, 155), name));
    if (isFile) {
      const target = join(folder, path);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, archive.subarray(at + BLOCK, at + BLOCK + size));
    }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
}

function text(header: Buffer, offset: number, length: number): string {
  const end = header.indexOf(0, offset);
  return header.toString('latin1', offset, end < 0 ? offset + length : Math.min(end, offset + length));
}
