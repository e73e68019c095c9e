import assert from 'node:assert/strict';
import { parse } from 'yaml';
import { find, type Manifest } from './helm.ts';

/** A container's variable: its value, or where it is taken from. */
interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef?: { readonly name: string; readonly key: string } };
}

/** What the controller makes workers from. */
export function workerTemplate(manifests: readonly Manifest[]): Manifest {
  return parse(controllerFile(manifests, 'worker-template.yaml'));
}

/** What the controller makes at its first start. */
export function defaultResources(manifests: readonly Manifest[]): Manifest[] {
  return parse(controllerFile(manifests, 'default-resources.yaml'));
}

function controllerFile(manifests: readonly Manifest[], name: string): string {
  return find(manifests, 'ConfigMap', 'platen-controller').data[name];
}

interface PodSpec {
  /** The object that it comes of. */
  readonly of: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: Manifest['spec'];
}

/** The specs of all pods of these objects, including the workers. */
export function podSpecs(manifests: readonly Manifest[]): PodSpec[] {
  const rendered = manifests.flatMap((manifest): PodSpec[] => {
    const of = `${manifest.kind}/${manifest.metadata.name}`;
    if (manifest.kind === 'Pod')
      return [{ of, annotations: manifest.metadata.annotations ?? {}, spec: manifest.spec }];
    if (manifest.spec?.template?.spec === undefined) return [];
    const { metadata, spec } = manifest.spec.template;
    // As the StatefulSet's controller adds them.
    const claimed = (manifest.spec.volumeClaimTemplates ?? []).map(
      ({ metadata: { name } }: { metadata: { name: string } }) => ({
        name,
        persistentVolumeClaim: { claimName: name },
      }),
    );
    const volumes = [...(spec.volumes ?? []), ...claimed];
    return [{ of, annotations: metadata.annotations ?? {}, spec: { ...spec, volumes } }];
  });
  const { metadata, spec } = workerTemplate(manifests);
  return [...rendered, { of: 'worker', annotations: metadata.annotations ?? {}, spec }];
}

/** The spec of a role's pods. */
export function podSpec(manifests: readonly Manifest[], role: string): Manifest['spec'] {
  if (role === 'worker') return workerTemplate(manifests).spec;
  return find(manifests, 'Deployment', `platen-${role}`).spec.template.spec;
}

/** The environment of a role's only container by name; what comes from a secret as `secret/key`. */
export function environment(manifests: readonly Manifest[], role: string): Record<string, string> {
  const { env } = podSpec(manifests, role).containers[0] as { env: Variable[] };
  const names = env.map(({ name }) => name);
  assert.deepEqual(names, [...new Set(names)], 'a variable is there twice');
  return Object.fromEntries(
    env.map(({ name, value, valueFrom }) => {
      const secret = valueFrom?.secretKeyRef;
      return [name, value ?? (secret === undefined ? 'field' : `${secret.name}/${secret.key}`)];
    }),
  );
}
