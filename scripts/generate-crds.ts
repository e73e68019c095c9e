/**
 * Writes what is made from the types of the custom resources: crds/*.yaml, the same as templates of both charts,
 * defaultResources in the schema of the chart's values, and docs/reference/custom-resources.md. With `--check` it writes nothing, names the files that are stale, and exits with 1 if
 * there are any.
 */
import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { stringify } from 'yaml';
import { GROUP } from '../src/kubernetes/resources/group.ts';
import { RENDER_PLAN } from '../src/kubernetes/resources/render-plan.ts';
import { RENDER_POOL } from '../src/kubernetes/resources/render-pool.ts';
import { customResourceDefinition } from './kubernetes/crd.ts';
import { referencePage } from './kubernetes/reference-page.ts';
import { valuesSchema } from './kubernetes/values-schema.ts';

const ROOT = join(import.meta.dirname, '..');
const NOTE = '# Made by `make generate`; do not edit.\n';
const DEFINITIONS = [RENDER_PLAN, RENDER_POOL];

const files = new Map<string, string>();
for (const definition of DEFINITIONS) {
  const crd = customResourceDefinition(definition);
  const name = `${GROUP}_${definition.plural}.yaml`;
  const text = formatted('crd.yaml', yaml(crd));
  files.set(join('crds', name), NOTE + text);
  const ownWhen = `include "platen.ownsDefinition" (dict "root" $ "name" "${definition.plural}.${GROUP}")`;
  files.set(join('charts', 'platen', 'templates', 'crds', name), chartTemplate(text, ownWhen));
  files.set(join('charts', 'platen-crds', 'templates', name), chartTemplate(text));
}
files.set(join('docs', 'reference', 'custom-resources.md'), formatted('page.md', referencePage(DEFINITIONS)));
const schemaFile = join('charts', 'platen', 'values.schema.json');
const schema = valuesSchema(await readFile(join(ROOT, schemaFile), 'utf8'), DEFINITIONS);
files.set(schemaFile, formatted('schema.json', schema));

const check = process.argv.includes('--check');
const stale: string[] = [];
for (const [name, wanted] of files) {
  const path = join(ROOT, name);
  const present = await readFile(path, 'utf8').catch(() => undefined);
  if (present === wanted) continue;
  stale.push(relative(process.cwd(), path));
  if (check) continue;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, wanted);
}
if (stale.length > 0 && check) {
  console.error(`Stale, run make generate: ${stale.join(', ')}`);
  process.exitCode = 1;
}

/** In the YAML of the Kubernetes tools, for whom `off` without quotes is a truth value. */
function yaml(value: unknown): string {
  return stringify(value, { version: '1.1', lineWidth: 100, aliasDuplicateObjects: false });
}

/**
 * Upgraded with the chart, and kept when it is uninstalled: with a definition, all its objects would go.
 *
 * @param ownWhen when the definition is the release's; default: always.
 */
function chartTemplate(crd: string, ownWhen?: string): string {
  if (crd.includes('{{')) throw new Error('A description would be taken for a template.');
  const keep = [
    '  {{- if .Values.crds.keep }}',
    '  annotations:',
    '    helm.sh/resource-policy: keep',
    '  {{- end }}',
  ].join('\n');
  const kept = crd.replace('metadata:\n', `metadata:\n${keep}\n`);
  return NOTE + (ownWhen === undefined ? kept : `{{- if ${ownWhen} }}\n${kept}{{- end }}\n`);
}

/** As the formatter that checks the whole tree wants it. */
function formatted(name: string, text: string): string {
  const biome = join(ROOT, 'node_modules', '.bin', 'biome');
  return execFileSync(process.execPath, [biome, 'format', `--stdin-file-path=${name}`], {
    input: text,
    encoding: 'utf8',
  });
}
