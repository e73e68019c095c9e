import type { ContainerStatus, Pod } from '../resources/kinds.ts';
import { DELETION_COST } from './labels.ts';
import { isInTrouble } from './worker-trouble.ts';

/**
 * The fields of a pod that the controller reads. The cache of 2,000 workers has no use for their containers, volumes
 * and probes; containers matter only while they cannot be started, and the managers of fields only for a pod that carries a
 * deletion cost.
 */
export function slimPod({ apiVersion, kind, metadata, spec, status }: Pod): Pod {
  const { managedFields, ...rest } = metadata;
  const isMarked = metadata.annotations?.[DELETION_COST] !== undefined;
  return {
    apiVersion,
    kind,
    metadata: { ...rest, ...(isMarked && managedFields !== undefined && { managedFields }) },
    ...(spec?.nodeName !== undefined && { spec: { nodeName: spec.nodeName } }),
    ...(status !== undefined && {
      status: {
        ...(status.phase !== undefined && { phase: status.phase }),
        ...(status.conditions !== undefined && { conditions: status.conditions }),
        ...inTrouble('initContainerStatuses', status.initContainerStatuses),
        ...inTrouble('containerStatuses', status.containerStatuses),
      },
    }),
  };
}

function inTrouble(field: string, statuses: readonly ContainerStatus[] = []) {
  const kept = statuses.filter(isInTrouble).map(({ name, state, lastState }) => ({
    name,
    ...(state !== undefined && { state }),
    ...(lastState !== undefined && { lastState }),
  }));
  return kept.length > 0 && { [field]: kept };
}
