import type { Deployment, Pod } from '../resources/kinds.ts';
import type { FleetState, PodPhase, PodState } from '../scaling/types.ts';
import { DELETION_COST, workersOf } from './labels.ts';

const TEMPLATE_HASH = 'pod-template-hash';

/** The autoscaler's view of a pool's workers, from the caches. */
export function fleetOf(pool: string, deployment: Deployment | undefined, pods: readonly Pod[]): FleetState {
  const own = pods.filter((pod) => isOfDeployment(pod, workersOf(pool)) && !hasEnded(pod));
  return {
    replicas: deployment === undefined ? 0 : (deployment.spec.replicas ?? 1),
    pods: own.map(podState),
    rolling: isRolling(deployment, own),
  };
}

/** Whether a ReplicaSet of this Deployment has made the pod. */
function isOfDeployment({ metadata }: Pod, deployment: string): boolean {
  const hash = metadata.labels?.[TEMPLATE_HASH];
  return (metadata.ownerReferences ?? []).some(
    ({ kind, controller, name }) => controller && kind === 'ReplicaSet' && name === `${deployment}-${hash}`,
  );
}

/** An evicted or finished pod does not count: the ReplicaSet has replaced it. */
function hasEnded({ status, metadata }: Pod): boolean {
  return (
    metadata.deletionTimestamp === undefined && (status?.phase === 'Failed' || status?.phase === 'Succeeded')
  );
}

export function podState(pod: Pod): PodState {
  const { name, creationTimestamp, annotations } = pod.metadata;
  return {
    name,
    ...(pod.spec?.nodeName !== undefined && { node: pod.spec.nodeName }),
    phase: phaseOf(pod),
    createdAt: Date.parse(creationTimestamp ?? ''),
    marked: Number(annotations?.[DELETION_COST] ?? 0) < 0,
  };
}

function phaseOf(pod: Pod): PodPhase {
  if (pod.metadata.deletionTimestamp !== undefined) return 'terminating';
  if (conditionOf(pod, 'Ready')?.status === 'True') return 'ready';
  // When a node falls silent, Kubernetes marks its pods as not ready; the last state that the pods reported is ready.
  return conditionOf(pod, 'ContainersReady')?.status === 'True' ? 'unreachable' : 'pending';
}

export function conditionOf({ status }: Pod, type: string) {
  return status?.conditions?.find((condition) => condition.type === type);
}

function isRolling(deployment: Deployment | undefined, pods: readonly Pod[]): boolean {
  const { replicas = 0, updatedReplicas = 0 } = deployment?.status ?? {};
  if (updatedReplicas < replicas) return true;
  const alive = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return new Set(alive.map(({ metadata }) => metadata.labels?.[TEMPLATE_HASH])).size > 1;
}
