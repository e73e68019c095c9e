import assert from 'node:assert/strict';
import { parse } from 'yaml';

interface PodSpec {
  readonly containers: readonly { readonly name: string; readonly [list: string]: unknown }[];
  readonly initContainers?: PodSpec['containers'];
  readonly volumes?: readonly unknown[];
}

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  // biome-ignore lint/suspicious/noExplicitAny: of every kind; it is looked into, and a wrong path fails.
  readonly [field: string]: any;
}

/** Lists of a pod that server-side apply merges by a key, and refuses when a key is there twice. */
const OF_CONTAINERS = { env: 'name', volumeMounts: 'mountPath', ports: 'name' };

/** @throws AssertionError when a pod, also one that the controller would make, has a variable, volume or mount twice. */
export function assertNoDuplicates(manifests: readonly Rendered[]): void {
  for (const manifest of manifests) {
    for (const spec of podSpecsOf(manifest)) {
      const where = `${manifest.kind}/${manifest.metadata.name}`;
      assertUnique(spec.volumes, 'name', `${where}: volumes`);
      for (const container of [...spec.containers, ...(spec.initContainers ?? [])]) {
        for (const [list, key] of Object.entries(OF_CONTAINERS))
          assertUnique(container[list] as readonly unknown[] | undefined, key, `${where}: ${list}`);
      }
    }
  }
}

function podSpecsOf({ kind, spec, data }: Rendered): PodSpec[] {
  if (kind === 'Pod') return [spec];
  if (kind === 'ConfigMap' && data?.['worker-template.yaml'] !== undefined)
    return [parse(data['worker-template.yaml']).spec];
  return spec?.template?.spec === undefined ? [] : [spec.template.spec];
}

function assertUnique(list: readonly unknown[] = [], key: string, where: string): void {
  const keys = list.map((entry) => (entry as Readonly<Record<string, unknown>>)[key]);
  assert.deepEqual(keys, [...new Set(keys)], `${where} has an entry twice`);
}
