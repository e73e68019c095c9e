import type { Pod } from '../resources/kinds.ts';
import { DELETION_COST } from './names.ts';

/**
 * The fields of a pod that the controller reads. The cache of 2,000 workers has no use for their containers, volumes
 * and probes; and the managers of fields matter only for a pod that carries a deletion cost.
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
      },
    }),
  };
}
