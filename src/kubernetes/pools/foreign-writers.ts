import type { FieldSet, KubeObject } from '../../infra/kube/client/kube-object.ts';
import type { Deployment, Pod } from '../resources/kinds.ts';
import { DELETION_COST, FIELD_MANAGER } from './labels.ts';

/** Other managers that wrote `spec.replicas` last, by their names in `managedFields`. Empty when the field is ours. */
export function foreignReplicasWriters(deployment: Deployment): string[] {
  return foreignWriters(deployment, ['f:spec', 'f:replicas']);
}

/** Other managers that wrote the deletion cost of any of the pods. */
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
  // A client that writes the value that is there already shares the field with us, and changes nothing.
  return managers.includes(FIELD_MANAGER) ? [] : [...new Set(managers)];
}

function has(fields: FieldSet | undefined, path: readonly string[]): boolean {
  const found = path.reduce<FieldSet | undefined>((at, step) => at?.[step], fields);
  return found !== undefined;
}
