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

/** Every condition of a RenderPlan, and every reason that it can have. */
export const PLAN_CONDITIONS = {
  Accepted: {
    about: 'Whether the spec as it is now is in force',
    reasons: {
      Valid: { status: 'True', meaning: 'It is in force in every process.' },
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
    },
  },
  PoolResolved: {
    about: 'Whether the pool that it names runs its jobs',
    reasons: {
      PoolFound: { status: 'True', meaning: 'It does.' },
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
  Accepted: {
    about: 'Whether the pool is looked after',
    reasons: {
      Valid: { status: 'True', meaning: 'It is.' },
      Invalid: {
        status: 'False',
        meaning: 'The message names each error. The workers stay as they were.',
      },
      NameTaken: {
        status: 'False',
        meaning:
          'An older RenderPool of this name in another namespace has the work of this name. Give this one another name.',
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
      Applied: { status: 'True', meaning: 'They are.' },
      NotOurs: {
        status: 'False',
        meaning:
          'The message names an object that has the name of ours and belongs to somebody else. It is left alone: rename or delete it.',
      },
      Refused: {
        status: 'False',
        meaning: 'The API server has refused what this spec makes of an object; the message has its words.',
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
      WorkersReady: { status: 'True', meaning: 'All of them are ready.' },
      ScaledToZero: { status: 'True', meaning: 'None is needed.' },
      WorkersStarting: { status: 'False', meaning: 'Fewer are ready than there should be.' },
      WorkersUnschedulable: {
        status: 'False',
        meaning: 'The scheduler finds no place for some of them; the message has its words.',
      },
    },
  },
  ScalingActive: {
    about: 'Whether the size follows the demand',
    reasons: {
      Automatic: { status: 'True', meaning: 'It does.' },
      Manual: { status: 'True', meaning: 'It follows spec.replicas, as the mode says.' },
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
      NotLimited: { status: 'False', meaning: 'Nothing does.' },
      MaxReplicas: { status: 'True', meaning: 'Work waits, and the pool is at maxReplicas.' },
      MinReplicas: { status: 'True', meaning: 'Fewer would do; minReplicas keeps the rest.' },
      MaxPendingPods: {
        status: 'True',
        meaning: 'As many pods are starting as may at a time; more are made as these become ready.',
      },
      StabilisationWindow: { status: 'True', meaning: 'More were needed a short while ago.' },
      ScaleDownRate: { status: 'True', meaning: 'As many have gone in this period as may.' },
      RollingUpdate: { status: 'True', meaning: 'None is taken away while the workers are being replaced.' },
      PodsStarting: { status: 'True', meaning: 'None is taken away while pods are starting.' },
      WorkersBusy: { status: 'True', meaning: 'The others are rendering.' },
      WorkersYoung: { status: 'True', meaning: 'The others have only just started.' },
      Draining: { status: 'True', meaning: 'Those that are to go finish what they have.' },
    },
  },
  Sandboxed: {
    about:
      "Whether documents are rendered in Chromium's sandbox, as each worker has found by looking at a renderer of its own",
    reasons: {
      WorkersSandboxed: { status: 'True', meaning: 'They are, in every worker that is seen.' },
      WorkersUnsandboxed: {
        status: 'False',
        meaning:
          'There are workers without it, or of which it is unknown: `platen_browser_sandboxed == 0` names their pods. `sandbox: required` lets none start.',
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
      SoleWriter: { status: 'True', meaning: 'Nobody does.' },
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
      PartitionsSuffice: { status: 'True', meaning: 'They have.' },
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
      AllReadable: { status: 'True', meaning: 'It can.' },
      NamespaceUnreadable: {
        status: 'False',
        meaning:
          'The message names each namespace that it cannot read, the kinds, and what the API server says. There, plans and pools stay as they were; the others are worked on. It is tried again for ever, every 30 seconds at the latest.',
      },
    },
  },
} as const satisfies ConditionTable;

interface EventEntry {
  readonly type: 'Normal' | 'Warning';
  readonly on: readonly ('RenderPlan' | 'RenderPool')[];
  readonly meaning: string;
}

/** Every event, by its reason. */
export const EVENTS = {
  InForce: { type: 'Normal', on: ['RenderPlan'], meaning: 'An edit of the plan is in force.' },
  Invalid: {
    type: 'Warning',
    on: ['RenderPlan', 'RenderPool'],
    meaning: 'The spec has errors; what was in force before stays so.',
  },
  NameTaken: {
    type: 'Warning',
    on: ['RenderPlan', 'RenderPool'],
    meaning: 'An older object of this name in another namespace is in force.',
  },
  PoolNotFound: {
    type: 'Warning',
    on: ['RenderPlan'],
    meaning: 'The pool that the plan names is not there; the pool default stands in.',
  },
  PartitionsTooFew: {
    type: 'Warning',
    on: ['RenderPool'],
    meaning: 'The pool may have more workers than its topics have partitions; the rest would get no work.',
  },
  NamespaceUnreadable: {
    type: 'Warning',
    on: ['RenderPool'],
    meaning: "The controller cannot read a namespace that it watches: the pool's own, or another.",
  },
  ScaledUp: { type: 'Normal', on: ['RenderPool'], meaning: 'The pool was made larger.' },
  ScaledDown: { type: 'Normal', on: ['RenderPool'], meaning: 'Empty workers were taken away.' },
  Held: { type: 'Warning', on: ['RenderPool'], meaning: 'The demand is not known; the size stays as it is.' },
  Fallback: {
    type: 'Warning',
    on: ['RenderPool'],
    meaning: 'The demand of an empty pool has not been readable; it goes to fallbackReplicas.',
  },
  WrongVictim: {
    type: 'Warning',
    on: ['RenderPool'],
    meaning:
      'A shrink has ended a worker that was not chosen. Its renders are handed back and run elsewhere.',
  },
  NotOurs: {
    type: 'Warning',
    on: ['RenderPool'],
    meaning: 'An object with the name of ours belongs to somebody else, and is left alone.',
  },
  Refused: {
    type: 'Warning',
    on: ['RenderPool'],
    meaning: 'The API server has refused an object of the pool.',
  },
  DriftHealed: {
    type: 'Normal',
    on: ['RenderPool'],
    meaning: 'Somebody has changed or deleted an object of the pool; it is as it should be again.',
  },
  ForeignReplicas: {
    type: 'Warning',
    on: ['RenderPool'],
    meaning: "Somebody else has written the Deployment's replicas.",
  },
  ForeignDeletionCost: {
    type: 'Warning',
    on: ['RenderPool'],
    meaning: 'Somebody else has written the deletion cost of a pod.',
  },
  WorkersUnschedulable: {
    type: 'Warning',
    on: ['RenderPool'],
    meaning: 'The scheduler finds no place for workers.',
  },
} as const satisfies Readonly<Record<string, EventEntry>>;

export type EventReason = keyof typeof EVENTS;
