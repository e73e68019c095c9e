/**
 * Writes the list of render options, src/render/options/generated/options.ts, after the files of src/render/options.
 * With `--check` it writes nothing, and exits with 1 if the list is stale.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';

const FOLDER = join(import.meta.dirname, '..', 'src', 'render', 'options');
const TARGET = join(FOLDER, 'generated', 'options.ts');

const names = (await readdir(FOLDER))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => basename(file, '.ts'));
names.sort();
const wanted = `// Made by \`make generate\` after the files of src/render/options; do not edit.
${names.map((name) => `import { ${name} } from '../${name}.ts';\n`).join('')}
export const OPTIONS = {
${names.map((name) => `  ${name},\n`).join('')}};
`;
if ((await readFile(TARGET, 'utf8').catch(() => undefined)) !== wanted) {
  if (process.argv.includes('--check')) {
    console.error(`Stale, run make generate: ${relative(process.cwd(), TARGET)}`);
    process.exitCode = 1;
  } else {
    await mkdir(dirname(TARGET), { recursive: true });
    await writeFile(TARGET, wanted);
  }
}
