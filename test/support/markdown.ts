import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const DOCS = new URL('../../docs/', import.meta.url);

/** The shell blocks under a heading of a page in docs/, each as it stands, up to the next heading of that rank or a higher one. */
export async function shellBlocks(page: string, heading: string): Promise<string[]> {
  return blocksOf('sh', section(await read(page), page, heading));
}

/** The YAML blocks of a page in docs/, or of what is under one of its headings. */
export async function yamlBlocks(page: string, heading?: string): Promise<string[]> {
  const text = await read(page);
  return blocksOf('yaml', heading === undefined ? text : section(text, page, heading));
}

/** The Lua blocks under a heading of a page in docs/. */
export async function luaBlocks(page: string, heading: string): Promise<string[]> {
  return blocksOf('lua', section(await read(page), page, heading));
}

/** The blocks of a language, as it is named behind the fence, under a heading of a page in docs/. */
export async function codeBlocks(language: string, page: string, heading: string): Promise<string[]> {
  return blocksOf(language, section(await read(page), page, heading));
}

function read(page: string): Promise<string> {
  return readFile(fileURLToPath(new URL(page, DOCS)), 'utf8');
}

function section(text: string, page: string, heading: string): string {
  const rank = /^#+ /.exec(heading)?.[0].length;
  assert.ok(rank !== undefined, `${heading} is no heading`);
  const start = text.indexOf(`\n${heading}\n`);
  assert.notEqual(start, -1, `${page} has no ${heading}`);
  const rest = text.slice(start + heading.length + 2);
  const end = rest.search(new RegExp(`^#{1,${rank - 1}} `, 'm'));
  return end === -1 ? rest : rest.slice(0, end);
}

/** Those in lists without their indentation. */
function blocksOf(language: string, text: string): string[] {
  const blocks = text.matchAll(new RegExp(`^( *)\`\`\`${language}\\n(.*?)^\\1\`\`\`$`, 'gms'));
  return [...blocks].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
}
