/**
 * Packs both clients, each as its users install it, with their checksums. The service has them at /clients.
 *
 *   node scripts/clients/pack.ts [folder]     (default dist/clients)
 */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { buildNpmPackage } from './npm-package.ts';
import { buildWheel } from './wheel.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const folder = resolve(process.argv[2] ?? join(ROOT, 'dist', 'clients'));

mkdirSync(dirname(folder), { recursive: true });
const work = mkdtempSync(`${folder}-`);
try {
  const packed = join(work, 'packed');
  mkdirSync(packed);
  mkdirSync(join(work, 'npm'));
  const names = [
    await buildNpmPackage(join(ROOT, 'clients', 'typescript'), packed, join(work, 'npm')),
    await buildWheel(join(ROOT, 'clients', 'python'), packed),
  ];
  writeFileSync(join(packed, 'SHA256SUMS'), names.map((name) => checksum(packed, name)).join(''));
  // As a whole, so that a service that runs has either the old ones or the new ones.
  rmSync(folder, { recursive: true, force: true });
  renameSync(packed, folder);
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** As `sha256sum --check` reads it. */
function checksum(packed: string, name: string): string {
  const sum = createHash('sha256').update(readFileSync(join(packed, name)));
  return `${sum.digest('hex')}  ${name}\n`;
}
