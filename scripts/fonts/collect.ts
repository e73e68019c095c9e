#!/usr/bin/env node
/**
 * Puts the fonts that documents are printed with into fonts/installed, from the packages of fonts/package.json, together
 * with their licences and a configuration of fontconfig. What is not used of the packages, two thirds, is removed.
 */
import { copyFileSync, globSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fontConfiguration } from './configuration.ts';
import { FONTS } from './list.ts';

const root = join(import.meta.dirname, '..', '..', 'fonts');
const packages = join(root, 'node_modules');
const installed = join(root, 'installed');
const work = join(root, 'collecting');

rmSync(work, { recursive: true, force: true });
for (const folder of ['files', 'licences']) mkdirSync(join(work, folder), { recursive: true });
for (const font of FONTS) {
  const folder = join(packages, font.package);
  for (const pattern of font.files) {
    const files = globSync(pattern, { cwd: folder });
    if (files.length === 0) throw new Error(`${font.package} has no ${pattern}.`);
    for (const file of files) copyFileSync(join(folder, file), join(work, 'files', basename(file)));
  }
  const [licence] = ['LICENSE_FONT', 'LICENSE'].flatMap((name) => globSync(`${name}*`, { cwd: folder }));
  if (licence === undefined) throw new Error(`${font.package} has no licence.`);
  copyFileSync(join(folder, licence), join(work, 'licences', `${font.family}.txt`));
}
writeFileSync(join(work, 'fonts.conf'), fontConfiguration());
rmSync(installed, { recursive: true, force: true });
renameSync(work, installed);
rmSync(packages, { recursive: true });
