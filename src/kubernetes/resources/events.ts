interface EventEntry {
  readonly type: 'Normal' | 'Warning';
  readonly on: readonly ('RenderPlan' | 'RenderPool')[];
  readonly meaning: string;
}

const BOTH = ['RenderPlan', 'RenderPool'] as const;
const normal = (on: EventEntry['on'], meaning: string): EventEntry => ({ type: 'Normal', on, meaning });
const warning = (on: EventEntry['on'], meaning: string): EventEntry => ({ type: 'Warning', on, meaning });

/** Every event, by its reason. */
export const EVENTS = {
  InForce: normal(['RenderPlan'], 'An edit of the plan is in force.'),
  Invalid: warning(BOTH, 'The spec has errors; what was in force before stays so.'),
  NameTaken: warning(BOTH, 'An older object of this name in another namespace is in force.'),
  NameReserved: warning(BOTH, "The name is built in, and counts only in the installation's own namespace."),
  ManagedElsewhere: warning(
    BOTH,
    'Another installation manages the object, so the one that reports this leaves it alone. Two installations should not watch one namespace.',
  ),
  HandOverPending: normal(
    BOTH,
    'The annotation `platen.dev/installation` names an installation that has not taken the object over. Until it does, the former one manages it.',
  ),
  DefaultRefused: warning(
    BOTH,
    'The API server has refused a plan or a pool of `defaultResources`, so it is not there. Recorded for the name that it would have.',
  ),
  PoolNotFound: warning(
    ['RenderPlan'],
    'The pool that the plan names is not there; the pool default stands in.',
  ),
  NamespaceUnreadable: warning(
    ['RenderPool'],
    "The controller cannot read a namespace that it watches: the pool's own, or another.",
  ),
  ScaledUp: normal(['RenderPool'], 'The pool was made larger.'),
  ScaledDown: normal(['RenderPool'], 'Empty workers were taken away.'),
  Held: warning(['RenderPool'], 'The demand is not known; the size stays as it is.'),
  Fallback: warning(
    ['RenderPool'],
    'The demand of an empty pool has not been readable; it goes to fallbackReplicas.',
  ),
  WrongVictim: warning(
    ['RenderPool'],
    'A shrink has ended a worker that was not chosen. Its renders are handed back and run elsewhere.',
  ),
  NotOurs: warning(
    ['RenderPool'],
    'An object with the name of ours belongs to somebody else, and is left alone.',
  ),
  Refused: warning(
    ['RenderPool'],
    'The API server has refused an object of the pool. The workers stay as they were accepted last, and are scaled on.',
  ),
  ApplyFailed: warning(
    ['RenderPool'],
    'The API server failed when an object of the pool was applied; it is tried again.',
  ),
  DriftHealed: normal(
    ['RenderPool'],
    'Somebody has changed or deleted an object of the pool; it is as it should be again.',
  ),
  ForeignReplicas: warning(['RenderPool'], "Somebody else has written the Deployment's replicas."),
  ForeignDeletionCost: warning(['RenderPool'], 'Somebody else has written the deletion cost of a pod.'),
  WorkersUnschedulable: warning(['RenderPool'], 'The scheduler finds no place for workers.'),
  FailedCreate: warning(
    ['RenderPool'],
    'Pods of workers cannot be made, as for want of quota or by a policy.',
  ),
  ImagePullBackOff: warning(['RenderPool'], 'The image of a worker cannot be pulled.'),
  CreateContainerConfigError: warning(
    ['RenderPool'],
    'The container of a worker cannot be made, as when a Secret is missing.',
  ),
  CrashLoopBackOff: warning(['RenderPool'], 'A worker ends again and again after it was started.'),
} as const satisfies Readonly<Record<string, EventEntry>>;

export type EventReason = keyof typeof EVENTS;
