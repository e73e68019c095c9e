import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const DOCS = new URL('../../docs/', import.meta.url);

/** The shell blocks under a heading of a page in docs/, each as it stands, up to the next heading of that rank or a higher one. */
export async function shellBlocks(page: string, heading: string): Promise<string[]> {
  const text = await readFile(fileURLToPath(new URL(page, DOCS)), 'utf8');
  const rank = /^#+ /.exec(heading)?.[0].length;
  assert.ok(rank !== undefined, `${heading} is no heading`);
  const start = text.indexOf(`\n${heading}\n`);
  assert.notEqual(start, -1, `${page} has no ${heading}`);
  const section = text.slice(start + heading.length + 2);
  const end = section.search(new RegExp(`^#{1,${rank - 1}} `, 'm'));
  const within = end === -1 ? section : section.slice(0, end);
  return [...within.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
}
