/** A reason of a condition or of an event. */
export interface ReasonEntry {
  readonly status: 'True' | 'False' | 'Unknown';
  /** When it is given, and what to do about it. */
  readonly meaning: string;
}

/** By type: what a condition is about, and the reasons that it can have. */
export type ConditionTable = Readonly<
  Record<string, { readonly about: string; readonly reasons: Readonly<Record<string, ReasonEntry>> }>
>;

const isTrue = (meaning: string): ReasonEntry => ({ status: 'True', meaning });
const isFalse = (meaning: string): ReasonEntry => ({ status: 'False', meaning });
const isUnknown = (meaning: string): ReasonEntry => ({ status: 'Unknown', meaning });

/** Reasons of `Ready`, which it has from another condition. */
function sameAs<Reason extends string>(type: string, reasons: readonly Reason[]) {
  const entry = isFalse(`As under ${type}.`);
  return Object.fromEntries(reasons.map((reason) => [reason, entry])) as Readonly<
    Record<Reason, ReasonEntry>
  >;
}

/** Every condition of a RenderPlan, and every reason that it can have. */
export const PLAN_CONDITIONS = {
  Ready: {
    about: 'Whether the plan is in force, and its pool runs its jobs: the one condition for tools that wait',
    reasons: {
      Ready: isTrue('The plan is in force, and its pool runs its jobs.'),
      ...sameAs('Accepted', ['Invalid', 'NameTaken', 'NameReserved']),
      ...sameAs('PoolResolved', ['PoolNotFound']),
    },
  },
  Accepted: {
    about: 'Whether the spec as it is now is in force',
    reasons: {
      Valid: isTrue('The spec of the plan is in force in every process.'),
      Invalid: isFalse(
        'The message names each error. What was in force before stays so; a plan that never was valid is as if it were not there.',
      ),
      NameTaken: isFalse(
        'An older RenderPlan of this name in another namespace is in force instead. Give this one another name.',
      ),
      NameReserved: isFalse(
        "The name is that of a built-in plan, which only a RenderPlan in the installation's own namespace may change. Give this one another name.",
      ),
    },
  },
  PoolResolved: {
    about: 'Whether the pool that it names runs its jobs',
    reasons: {
      PoolFound: isTrue('The pool that the plan names runs its jobs.'),
      PoolNotFound: isFalse(
        'There is no such RenderPool, or it is being deleted or was not accepted. Until there is, the pool default runs the jobs; without that one, too, they wait.',
      ),
    },
  },
} as const satisfies ConditionTable;

/** Every condition of a RenderPool, and every reason that it can have. */
export const POOL_CONDITIONS = {
  Ready: {
    about:
      'Whether the pool is accepted, applied and available: the one condition for tools that wait. With False, it has the reason and the message of the first of these that is not True',
    reasons: {
      Ready: isTrue('The pool is accepted, its objects are applied, and its workers can work.'),
      ...sameAs('Accepted', ['Invalid', 'NameTaken', 'NameReserved', 'NamespaceUnreadable']),
      ...sameAs('WorkersApplied', ['NotOurs', 'Refused', 'ApplyFailed', 'NoTemplate']),
      ...sameAs('Available', [
        'WorkersStarting',
        'FailedCreate',
        'WorkersUnschedulable',
        'ImagePullBackOff',
        'CreateContainerConfigError',
        'CrashLoopBackOff',
      ]),
    },
  },
  Accepted: {
    about: 'Whether the pool is looked after',
    reasons: {
      Valid: isTrue('The spec of the pool is valid, and the pool is looked after.'),
      Invalid: isFalse('The message names each error. The workers stay as they were.'),
      NameTaken: isFalse(
        'An older RenderPool of this name in another namespace has the work of this name. Give this one another name.',
      ),
      NameReserved: isFalse(
        "The pool default stands in for missing pools, so only a RenderPool in the installation's own namespace may have this name. Give this one another name.",
      ),
      NamespaceUnreadable: isFalse(
        'The API server does not let the controller read all that it needs in this namespace; the message names the kinds. The workers stay as they were.',
      ),
    },
  },
  WorkersApplied: {
    about:
      'Whether the Deployment, the disruption budget, the network policy and the service account are as they should be',
    reasons: {
      Applied: isTrue('The objects of the pool are applied.'),
      NotOurs: isFalse(
        'The message names an object that has the name of ours and belongs to somebody else, or to another installation. It is left alone: rename or delete it.',
      ),
      Refused: isFalse(
        'The API server has refused what this spec makes of an object; the message has its words. The workers stay as they were accepted last, and their number follows the demand. It is tried again every 30 seconds, and at once when the spec changes.',
      ),
      ApplyFailed: isFalse(
        'The API server failed when an object was applied; the message has its words. It is tried again by itself.',
      ),
      NoTemplate: isFalse("The installation's template of a worker cannot be used; the message says why."),
    },
  },
  Available: {
    about: 'Whether its workers can work',
    reasons: {
      WorkersReady: isTrue('All workers of the pool are ready.'),
      MoreStarting: isTrue('At least minReplicas workers are ready, and more are starting.'),
      ScaledToZero: isTrue('The pool needs no worker.'),
      WorkersStarting: isFalse('Fewer workers are ready than minReplicas, or none.'),
      FailedCreate: isFalse(
        'Pods of workers cannot be made, as for want of quota, by a policy, or because a PriorityClass is missing; the message has the words of Kubernetes.',
      ),
      WorkersUnschedulable: isFalse(
        'The scheduler finds no place for some of the workers; the message has its words.',
      ),
      ImagePullBackOff: isFalse(
        'The image of a worker cannot be pulled; the message names a pod, and has the words of its node.',
      ),
      CreateContainerConfigError: isFalse(
        'The container of a worker cannot be made, as when a Secret or a ConfigMap is missing; the message names a pod, and has the words of its node.',
      ),
      CrashLoopBackOff: isFalse(
        'A worker ends again and again after it was started; the message names a pod, and how it ended last.',
      ),
    },
  },
  ScalingActive: {
    about: 'Whether the size follows the demand',
    reasons: {
      Automatic: isTrue('The size of the pool follows its demand.'),
      Manual: isTrue('The size follows spec.replicas, as the mode says.'),
      Paused: isFalse('spec.paused is set: the size and the workers stay as they are.'),
      NoReading: isFalse(
        'The demand cannot be read. The size stays as it is; an empty pool goes to fallbackReplicas after a minute.',
      ),
      StaleReading: isFalse('The demand was read more than 10 seconds ago; as with NoReading.'),
    },
  },
  ScalingLimited: {
    about: 'Whether something keeps the pool from the size that its demand asks for',
    reasons: {
      NotLimited: isFalse('Nothing keeps the pool from the size that its demand asks for.'),
      NotApplied: isTrue('The size could not be written to the Deployment; WorkersApplied says why.'),
      MaxReplicas: isTrue('Work waits, and the pool is at maxReplicas.'),
      MinReplicas: isTrue('Fewer workers would do; minReplicas keeps the rest.'),
      MaxPendingPods: isTrue(
        'As many pods are starting as may at a time; more are made as these become ready.',
      ),
      StabilisationWindow: isTrue('More workers were needed a short while ago.'),
      ScaleDownRate: isTrue('As many workers have gone in this period as may.'),
      RollingUpdate: isTrue('No worker is taken away while the workers are being replaced.'),
      PodsStarting: isTrue('No worker is taken away while pods are starting.'),
      WorkersBusy: isTrue('The other workers are rendering.'),
      WorkersYoung: isTrue('The other workers have only just started.'),
      Draining: isTrue('The workers that are to go finish what they have.'),
    },
  },
  Sandboxed: {
    about:
      "Whether documents are rendered in Chromium's sandbox, as each worker has found by looking at a renderer of its own",
    reasons: {
      WorkersSandboxed: isTrue('Documents are rendered in the sandbox, in every worker that is seen.'),
      WorkersUnsandboxed: isFalse(
        'There are workers without the sandbox, or of which it is unknown: `platen_browser_sandboxed == 0` names their pods. `sandbox: required` lets none start.',
      ),
      WorkersUnknown: isUnknown(
        'No worker is seen that could say: the pool is empty, or what its workers say cannot be read.',
      ),
    },
  },
  SoleWriter: {
    about: "Whether nobody else writes the Deployment's replicas or the deletion cost of its pods",
    reasons: {
      SoleWriter: isTrue('Nobody else writes the size of the pool or the deletion cost of its pods.'),
      ForeignReplicas: isFalse(
        'The message names who has written spec.replicas of the Deployment. Take it from them: an HPA belongs on the RenderPool, in mode Manual.',
      ),
      ForeignDeletionCost: isFalse(
        'The message names who has written controller.kubernetes.io/pod-deletion-cost. Busy workers may be killed for as long as they do.',
      ),
    },
  },
  NamespacesReadable: {
    about: 'Whether the controller can read every namespace that it watches, this one and the others',
    reasons: {
      AllReadable: isTrue('The controller can read every namespace that it watches.'),
      NamespaceUnreadable: isFalse(
        'The message names each namespace that it cannot read, the kinds, and what the API server says. There, plans and pools stay as they were; those of other namespaces are worked on. It is tried again for ever, every 30 seconds at the latest.',
      ),
    },
  },
} as const satisfies ConditionTable;
