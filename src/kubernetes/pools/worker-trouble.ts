import type { ContainerStatus, Deployment, Pod } from '../resources/kinds.ts';
import { conditionOf } from './fleet.ts';

/** What keeps workers from becoming ready, with a reason of the condition `Available`. */
export interface WorkerTrouble {
  readonly reason:
    | 'FailedCreate'
    | 'WorkersUnschedulable'
    | 'ImagePullBackOff'
    | 'CreateContainerConfigError'
    | 'CrashLoopBackOff';
  /** With the words of Kubernetes. */
  readonly message: string;
}

/**
 * Reasons of a kubelet for a container that waits, by the reason that stands for them: a kubelet alternates between
 * some of them, as between ErrImagePull and ImagePullBackOff.
 */
const WAITING: Readonly<Record<string, WorkerTrouble['reason']>> = {
  ImagePullBackOff: 'ImagePullBackOff',
  ErrImagePull: 'ImagePullBackOff',
  ErrImageNeverPull: 'ImagePullBackOff',
  InvalidImageName: 'ImagePullBackOff',
  ImageInspectError: 'ImagePullBackOff',
  RegistryUnavailable: 'ImagePullBackOff',
  SignatureValidationFailed: 'ImagePullBackOff',
  CreateContainerConfigError: 'CreateContainerConfigError',
  CreateContainerError: 'CreateContainerConfigError',
  CrashLoopBackOff: 'CrashLoopBackOff',
  RunContainerError: 'CrashLoopBackOff',
  PostStartHookError: 'CrashLoopBackOff',
};

/** Whether a container waits for something that does not come by itself. */
export function isInTrouble({ state }: ContainerStatus): boolean {
  return WAITING[state?.waiting?.reason ?? ''] !== undefined;
}

/** The first trouble of a pool's workers: that of making pods, of placing them, and of starting their containers. */
export function troubleOf(
  deployment: Deployment | undefined,
  pods: readonly Pod[],
): WorkerTrouble | undefined {
  const failure = deployment?.status?.conditions?.find(
    ({ type, status }) => type === 'ReplicaFailure' && status === 'True',
  );
  if (failure !== undefined) {
    return {
      reason: 'FailedCreate',
      message: `Pods of workers cannot be made: ${failure.message ?? failure.reason ?? 'no reason is given'}`,
    };
  }
  const alive = pods
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const homeless = alive.map((pod) => conditionOf(pod, 'PodScheduled')).find(isUnschedulable);
  if (homeless !== undefined) return { reason: 'WorkersUnschedulable', message: homeless.message ?? '' };
  for (const { metadata, status } of alive) {
    const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
    for (const container of containers) {
      const reason = WAITING[container.state?.waiting?.reason ?? ''];
      if (reason !== undefined) return { reason, message: inWords(metadata.name, container) };
    }
  }
  return undefined;
}

function isUnschedulable(condition: ReturnType<typeof conditionOf>): boolean {
  return condition?.status === 'False' && condition.reason === 'Unschedulable';
}

function inWords(pod: string, { name, state, lastState }: ContainerStatus): string {
  const { reason, message } = state?.waiting ?? {};
  const said = [reason, message].filter(Boolean).join(': ');
  const ended = lastState?.terminated;
  const before = ended && ` It ended before with the exit code ${ended.exitCode}${because(ended)}.`;
  return `The container ${name} of the pod ${pod} does not start: ${said}.${before ?? ''}`;
}

function because({ reason, message }: { readonly reason?: string; readonly message?: string }): string {
  const said = [reason, message?.trim()].filter(Boolean).join(': ');
  return said === '' ? '' : ` (${said})`;
}
