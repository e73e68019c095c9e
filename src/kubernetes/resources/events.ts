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
  NameReserved: {
    type: 'Warning',
    on: ['RenderPlan', 'RenderPool'],
    meaning: "The name is built in, and counts only in the installation's own namespace.",
  },
  ManagedElsewhere: {
    type: 'Warning',
    on: ['RenderPlan', 'RenderPool'],
    meaning:
      'Another installation manages the object, so the one that reports this leaves it alone. Two installations should not watch one namespace.',
  },
  HandOverPending: {
    type: 'Normal',
    on: ['RenderPlan', 'RenderPool'],
    meaning:
      'The annotation `platen.dev/installation` names an installation that has not taken the object over. Until it does, the former one manages it.',
  },
  DefaultRefused: {
    type: 'Warning',
    on: ['RenderPlan', 'RenderPool'],
    meaning:
      'The API server has refused a plan or a pool of `defaultResources`, so it is not there. Recorded for the name that it would have.',
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
    meaning:
      'The API server has refused an object of the pool. The workers stay as they were accepted last, and are scaled on.',
  },
  ApplyFailed: {
    type: 'Warning',
    on: ['RenderPool'],
    meaning: 'The API server failed when an object of the pool was applied; it is tried again.',
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
  FailedCreate: {
    type: 'Warning',
    on: ['RenderPool'],
    meaning: 'Pods of workers cannot be made, as for want of quota or by a policy.',
  },
  ImagePullBackOff: {
    type: 'Warning',
    on: ['RenderPool'],
    meaning: 'The image of a worker cannot be pulled.',
  },
  CreateContainerConfigError: {
    type: 'Warning',
    on: ['RenderPool'],
    meaning: 'The container of a worker cannot be made, as when a Secret is missing.',
  },
  CrashLoopBackOff: {
    type: 'Warning',
    on: ['RenderPool'],
    meaning: 'A worker ends again and again after it was started.',
  },
} as const satisfies Readonly<Record<string, EventEntry>>;

export type EventReason = keyof typeof EVENTS;
