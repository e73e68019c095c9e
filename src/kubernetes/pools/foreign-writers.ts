import type { FieldSet, KubeObject } from '../client/kube-object.ts';
import type { Deployment, Pod } from '../resources/kinds.ts';
import { DELETION_COST, FIELD_MANAGER } from './names.ts';

/** Who else has written `spec.replicas` last: their names in `managedFields`. Empty when it is ours. */
export function foreignReplicasWriters(deployment: Deployment): string[] {
  return foreignWriters(deployment, ['f:spec', 'f:replicas']);
}

/** Who else has written the deletion cost of one of these pods. */
export function foreignCostWriters(pods: readonly Pod[]): string[] {
  return [...new Set(pods.flatMap(costWritersOf))].sort();
}

export function costWritersOf(pod: Pod): string[] {
  return pod.metadata.annotations?.[DELETION_COST] === undefined
    ? []
    : foreignWriters(pod, ['f:metadata', 'f:annotations', `f:${DELETION_COST}`]);
}

function foreignWriters({ metadata }: KubeObject, path: readonly string[]): string[] {
  const managers = (metadata.managedFields ?? [])
    .filter(({ fieldsV1 }) => has(fieldsV1, path))
    .map(({ manager }) => manager ?? 'an unknown manager');
  // Whoever writes what stands there already shares a field with us, and changes nothing.
  return managers.includes(FIELD_MANAGER) ? [] : [...new Set(managers)];
}

function has(fields: FieldSet | undefined, path: readonly string[]): boolean {
  const found = path.reduce<FieldSet | undefined>((at, step) => at?.[step], fields);
  return found !== undefined;
}
