/** The wheel of the Python client, which needs no Python to be built: a zip of its modules and of what is said about them. */
import { createHash } from 'node:crypto';
import { createWriteStream, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZipArchive } from 'archiver';

/** So that the same sources are the same bytes. */
const DATE = new Date('2020-01-01T00:00:00Z');

/**
 * @param project the folder of pyproject.toml.
 * @param folder where the wheel is put.
 * @returns its name, which says its version.
 */
export async function buildWheel(project: string, folder: string): Promise<string> {
  const settings = readFileSync(join(project, 'pyproject.toml'), 'utf8');
  const [name, version] = [textOf(settings, 'name'), textOf(settings, 'version')];
  const information = `${name}-${version}.dist-info`;
  const files = new Map<string, string | Buffer>(modulesOf(join(project, 'src')));
  files.set(`${information}/METADATA`, metadata(settings, readFileSync(join(project, 'README.md'), 'utf8')));
  files.set(
    `${information}/WHEEL`,
    'Wheel-Version: 1.0\nGenerator: platen\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
  );
  files.set(`${information}/RECORD`, record(files, `${information}/RECORD`));
  const wheel = `${name}-${version}-py3-none-any.whl`;
  const archive = new ZipArchive({ zlib: { level: 9 } });
  const written = pipeline(archive, createWriteStream(join(folder, wheel)));
  for (const [path, content] of files) archive.append(content, { name: path, date: DATE, mode: 0o644 });
  await Promise.all([archive.finalize(), written]);
  return wheel;
}

function modulesOf(source: string): [string, Buffer][] {
  return readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:py|typed)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => [relative(source, path), readFileSync(path)]);
}

/** Core metadata, version 2.4. */
function metadata(settings: string, readme: string): string {
  return [
    'Metadata-Version: 2.4',
    `Name: ${textOf(settings, 'name')}`,
    `Version: ${textOf(settings, 'version')}`,
    `Summary: ${textOf(settings, 'description')}`,
    `License-Expression: ${textOf(settings, 'license')}`,
    ...textsOf(settings, 'classifiers').map((each) => `Classifier: ${each}`),
    `Requires-Python: ${textOf(settings, 'requires-python')}`,
    ...textsOf(settings, 'dependencies').map((each) => `Requires-Dist: ${each}`),
    'Description-Content-Type: text/markdown',
    '',
    withoutRelativeLinks(readme),
  ].join('\n');
}

/** Links to files of the repository lead nowhere outside of it. */
export function withoutRelativeLinks(markdown: string): string {
  return markdown.replace(/\[([^\]]+)\]\((?!https?:|#)[^)]*\)/g, '$1');
}

function record(files: ReadonlyMap<string, string | Buffer>, own: string): string {
  const lines = [...files].map(([path, content]) => {
    const sum = createHash('sha256').update(content).digest('base64url');
    return `${path},sha256=${sum},${Buffer.byteLength(content)}\n`;
  });
  return `${lines.join('')}${own},,\n`;
}

function textOf(settings: string, name: string): string {
  const [, text] = new RegExp(`^${name} = "(.*)"$`, 'm').exec(settings) ?? [];
  if (text === undefined) throw new Error(`pyproject.toml has no ${name}`);
  return text;
}

function textsOf(settings: string, name: string): string[] {
  const [, list] = new RegExp(`^${name} = \\[\\n(.*?)^\\]`, 'ms').exec(settings) ?? [];
  if (list === undefined) throw new Error(`pyproject.toml has no ${name}`);
  return [...list.matchAll(/^ {2}"(.*)",$/gm)].map(([, text]) => text!);
}
