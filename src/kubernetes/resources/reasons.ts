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

/** Reasons of `Ready`, which it has from another condition. */
function sameAs<Reason extends string>(type: string, reasons: readonly Reason[]) {
  const entry: ReasonEntry = { status: 'False', meaning: `As under ${type}.` };
  return Object.fromEntries(reasons.map((reason) => [reason, entry])) as Readonly<
    Record<Reason, ReasonEntry>
  >;
}

/** Every condition of a RenderPlan, and every reason that it can have. */
export const PLAN_CONDITIONS = {
  Ready: {
    about: 'Whether the plan is in force, and its pool runs its jobs: the one condition for tools that wait',
    reasons: {
      Ready: { status: 'True', meaning: 'The plan is in force, and its pool runs its jobs.' },
      ...sameAs('Accepted', ['Invalid', 'NameTaken', 'NameReserved']),
      ...sameAs('PoolResolved', ['PoolNotFound']),
    },
  },
  Accepted: {
    about: 'Whether the spec as it is now is in force',
    reasons: {
      Valid: { status: 'True', meaning: 'The spec of the plan is in force in every process.' },
      Invalid: {
        status: 'False',
        meaning:
          'The message names each error. What was in force before stays so; a plan that never was valid is as if it were not there.',
      },
      NameTaken: {
        status: 'False',
        meaning:
          'An older RenderPlan of this name in another namespace is in force instead. Give this one another name.',
      },
      NameReserved: {
        status: 'False',
        meaning:
          "The name is that of a built-in plan, which only a RenderPlan in the installation's own namespace may change. Give this one another name.",
      },
    },
  },
  PoolResolved: {
    about: 'Whether the pool that it names runs its jobs',
    reasons: {
      PoolFound: { status: 'True', meaning: 'The pool that the plan names runs its jobs.' },
      PoolNotFound: {
        status: 'False',
        meaning:
          'There is no such RenderPool, or it is being deleted or was not accepted. Until there is, the pool default runs the jobs; without that one, too, they wait.',
      },
    },
  },
} as const satisfies ConditionTable;

/** Every condition of a RenderPool, and every reason that it can have. */
export const POOL_CONDITIONS = {
  Ready: {
    about:
      'Whether the pool is accepted, applied and available: the one condition for tools that wait. With False, it has the reason and the message of the first of these that is not True',
    reasons: {
      Ready: {
        status: 'True',
        meaning: 'The pool is accepted, its objects are applied, and its workers can work.',
      },
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
      Valid: { status: 'True', meaning: 'The spec of the pool is valid, and the pool is looked after.' },
      Invalid: {
        status: 'False',
        meaning: 'The message names each error. The workers stay as they were.',
      },
      NameTaken: {
        status: 'False',
        meaning:
          'An older RenderPool of this name in another namespace has the work of this name. Give this one another name.',
      },
      NameReserved: {
        status: 'False',
        meaning:
          "The pool default stands in for missing pools, so only a RenderPool in the installation's own namespace may have this name. Give this one another name.",
      },
      NamespaceUnreadable: {
        status: 'False',
        meaning:
          'The API server does not let the controller read all that it needs in this namespace; the message names the kinds. The workers stay as they were.',
      },
    },
  },
  WorkersApplied: {
    about:
      'Whether the Deployment, the disruption budget, the network policy and the service account are as they should be',
    reasons: {
      Applied: { status: 'True', meaning: 'The objects of the pool are applied.' },
      NotOurs: {
        status: 'False',
        meaning:
          'The message names an object that has the name of ours and belongs to somebody else, or to another installation. It is left alone: rename or delete it.',
      },
      Refused: {
        status: 'False',
        meaning:
          'The API server has refused what this spec makes of an object; the message has its words. The workers stay as they were accepted last, and their number follows the demand. It is tried again every 30 seconds, and at once when the spec changes.',
      },
      ApplyFailed: {
        status: 'False',
        meaning:
          'The API server failed when an object was applied; the message has its words. It is tried again by itself.',
      },
      NoTemplate: {
        status: 'False',
        meaning: "The installation's template of a worker cannot be used; the message says why.",
      },
    },
  },
  Available: {
    about: 'Whether its workers can work',
    reasons: {
      WorkersReady: { status: 'True', meaning: 'All workers of the pool are ready.' },
      MoreStarting: {
        status: 'True',
        meaning: 'At least minReplicas workers are ready, and more are starting.',
      },
      ScaledToZero: { status: 'True', meaning: 'The pool needs no worker.' },
      WorkersStarting: { status: 'False', meaning: 'Fewer workers are ready than minReplicas, or none.' },
      FailedCreate: {
        status: 'False',
        meaning:
          'Pods of workers cannot be made, as for want of quota, by a policy, or because a PriorityClass is missing; the message has the words of Kubernetes.',
      },
      WorkersUnschedulable: {
        status: 'False',
        meaning: 'The scheduler finds no place for some of the workers; the message has its words.',
      },
      ImagePullBackOff: {
        status: 'False',
        meaning:
          'The image of a worker cannot be pulled; the message names a pod, and has the words of its node.',
      },
      CreateContainerConfigError: {
        status: 'False',
        meaning:
          'The container of a worker cannot be made, as when a Secret or a ConfigMap is missing; the message names a pod, and has the words of its node.',
      },
      CrashLoopBackOff: {
        status: 'False',
        meaning:
          'A worker ends again and again after it was started; the message names a pod, and how it ended last.',
      },
    },
  },
  ScalingActive: {
    about: 'Whether the size follows the demand',
    reasons: {
      Automatic: { status: 'True', meaning: 'The size of the pool follows its demand.' },
      Manual: { status: 'True', meaning: 'The size follows spec.replicas, as the mode says.' },
      Paused: { status: 'False', meaning: 'spec.paused is set: the size and the workers stay as they are.' },
      NoReading: {
        status: 'False',
        meaning:
          'The demand cannot be read. The size stays as it is; an empty pool goes to fallbackReplicas after a minute.',
      },
      StaleReading: {
        status: 'False',
        meaning: 'The demand was read more than 10 seconds ago; as with NoReading.',
      },
    },
  },
  ScalingLimited: {
    about: 'Whether something keeps the pool from the size that its demand asks for',
    reasons: {
      NotLimited: {
        status: 'False',
        meaning: 'Nothing keeps the pool from the size that its demand asks for.',
      },
      NotApplied: {
        status: 'True',
        meaning: 'The size could not be written to the Deployment; WorkersApplied says why.',
      },
      MaxReplicas: { status: 'True', meaning: 'Work waits, and the pool is at maxReplicas.' },
      MinReplicas: { status: 'True', meaning: 'Fewer workers would do; minReplicas keeps the rest.' },
      MaxPendingPods: {
        status: 'True',
        meaning: 'As many pods are starting as may at a time; more are made as these become ready.',
      },
      StabilisationWindow: { status: 'True', meaning: 'More workers were needed a short while ago.' },
      ScaleDownRate: { status: 'True', meaning: 'As many workers have gone in this period as may.' },
      RollingUpdate: {
        status: 'True',
        meaning: 'No worker is taken away while the workers are being replaced.',
      },
      PodsStarting: { status: 'True', meaning: 'No worker is taken away while pods are starting.' },
      WorkersBusy: { status: 'True', meaning: 'The other workers are rendering.' },
      WorkersYoung: { status: 'True', meaning: 'The other workers have only just started.' },
      Draining: { status: 'True', meaning: 'The workers that are to go finish what they have.' },
    },
  },
  Sandboxed: {
    about:
      "Whether documents are rendered in Chromium's sandbox, as each worker has found by looking at a renderer of its own",
    reasons: {
      WorkersSandboxed: {
        status: 'True',
        meaning: 'Documents are rendered in the sandbox, in every worker that is seen.',
      },
      WorkersUnsandboxed: {
        status: 'False',
        meaning:
          'There are workers without the sandbox, or of which it is unknown: `platen_browser_sandboxed == 0` names their pods. `sandbox: required` lets none start.',
      },
      WorkersUnknown: {
        status: 'Unknown',
        meaning:
          'No worker is seen that could say: the pool is empty, or what its workers say cannot be read.',
      },
    },
  },
  SoleWriter: {
    about: "Whether nobody else writes the Deployment's replicas or the deletion cost of its pods",
    reasons: {
      SoleWriter: {
        status: 'True',
        meaning: 'Nobody else writes the size of the pool or the deletion cost of its pods.',
      },
      ForeignReplicas: {
        status: 'False',
        meaning:
          'The message names who has written spec.replicas of the Deployment. Take it from them: an HPA belongs on the RenderPool, in mode Manual.',
      },
      ForeignDeletionCost: {
        status: 'False',
        meaning:
          'The message names who has written controller.kubernetes.io/pod-deletion-cost. Busy workers may be killed for as long as they do.',
      },
    },
  },
  Partitioned: {
    about:
      'Whether the topics of the pool have a partition for each worker that it may have, as the dispatcher found at Kafka',
    reasons: {
      PartitionsSuffice: { status: 'True', meaning: 'The topics have a partition for each worker.' },
      PartitionsTooFew: {
        status: 'False',
        meaning:
          'Workers past the number of partitions get no work from Kafka. The message has both numbers. Platen makes partitions by itself up to kafka.topics.maxPartitions, if its Kafka user may alter the topics.',
      },
      PartitionsUnknown: {
        status: 'Unknown',
        meaning: 'The dispatcher has not looked yet, or cannot reach Kafka, or the reading is missing.',
      },
    },
  },
  NamespacesReadable: {
    about: 'Whether the controller can read every namespace that it watches, this one and the others',
    reasons: {
      AllReadable: { status: 'True', meaning: 'The controller can read every namespace that it watches.' },
      NamespaceUnreadable: {
        status: 'False',
        meaning:
          'The message names each namespace that it cannot read, the kinds, and what the API server says. There, plans and pools stay as they were; those of other namespaces are worked on. It is tried again for ever, every 30 seconds at the latest.',
      },
    },
  },
} as const satisfies ConditionTable;
