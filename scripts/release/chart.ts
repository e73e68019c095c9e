import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import type { Change } from './changelog.ts';

/**
 * Copies a chart into a folder that is to be packaged, with what the changelog says of its version as annotations: for
 * Artifact Hub, and for people who read `helm show chart`.
 *
 * @param target must not exist.
 * @param images those that the chart's pods run by default, by name.
 */
export async function stageChart(
  chart: string,
  target: string,
  {
    changes,
    images,
  }: { readonly changes: readonly Change[]; readonly images: Readonly<Record<string, string>> },
): Promise<void> {
  await cp(chart, target, { recursive: true });
  const file = join(target, 'Chart.yaml');
  const document = parseDocument(await readFile(file, 'utf8'));
  const listed = Object.entries(images).map(([name, image]) => ({ name, image }));
  const added = {
    'artifacthub.io/changes': changes,
    ...(listed.length > 0 && { 'artifacthub.io/images': listed }),
  };
  // Each is a text of its own, as Artifact Hub wants it.
  for (const [name, value] of Object.entries(added))
    document.setIn(['annotations', name], document.createNode(value).toString());
  await writeFile(file, document.toString());
}
