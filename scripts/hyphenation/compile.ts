#!/usr/bin/env node
/**
 * Compiles the hyphenation dictionaries that Chromium reads, from the patterns of the npm package `hyphen`, and writes
 * them with their licences. What is there stays in place until its successor is whole, since browsers may be reading it.
 *
 *   node scripts/hyphenation/compile.ts [folder]     (default dist/hyphen-data)
 */
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { compileHyb } from './hyb.ts';
import { LANGUAGES } from './languages.ts';
import { licences } from './licences.ts';
import { PATTERNS_VERSION, readPatterns } from './patterns.ts';

const folder = resolve(process.argv[2] ?? join(import.meta.dirname, '..', '..', 'dist', 'hyphen-data'));
const written = new Set<string>();

mkdirSync(folder, { recursive: true });
for (const { locale, patterns } of LANGUAGES)
  write(`hyph-${locale}.hyb`, compileHyb(patterns.flatMap(readPatterns), locale));
write('LICENCES.txt', licences());
for (const old of readdirSync(folder)) if (!written.has(old)) rmSync(join(folder, old), { recursive: true });
// Last, for `make` looks at it; and a full Chromium takes a folder with it for a component.
write(
  'manifest.json',
  JSON.stringify({ manifest_version: 2, name: 'hyphens-data', version: PATTERNS_VERSION }),
);

function write(name: string, content: Buffer | string): void {
  const path = join(folder, name);
  writeFileSync(`${path}.${process.pid}`, content);
  renameSync(`${path}.${process.pid}`, path);
  written.add(name);
}
