/** How a pool is to be sized: from the RenderPool's spec. All numbers of pods are whole; times are in seconds. */
export interface PoolScaling {
  readonly minReplicas: number;
  readonly maxReplicas: number;
  /** Renders that one worker runs at a time; at least 1. */
  readonly slotsPerWorker: number;
  /** The wanted average utilisation of the workers: above 0, at most 1. */
  readonly targetUtilisation: number;
  /** Slots to be free beyond the demand. In large pools the square root of the demand gives more. */
  readonly headroomSlots: number;
  /** Free slots for each square root of the demand; `HEADROOM_BETA` unless the simulation tries another. */
  readonly headroomBeta?: number;
  /** Pods that may be pending at a time. A raise stops there, and continues as they become ready. */
  readonly maxPendingPods: number;
  /** The size of an empty pool when its demand has not been readable for a while. */
  readonly fallbackReplicas: number;
  readonly scaleDown: {
    /** A pool shrinks to the largest size that was wanted within this time. */
    readonly stabilisationSeconds: number;
    /** The percentage of the replicas at the period's beginning that may go in one period; always at least one pod. */
    readonly maxPercent: number;
    readonly periodSeconds: number;
  };
  /** A worker that has been up for less than this is no victim. */
  readonly workerYoungSeconds: number;
  /** Maintenance: the size stays as it is. */
  readonly paused: boolean;
  /** Manual mode: this size instead of one that follows the demand. A shrink to it has the same two phases. */
  readonly manualReplicas?: number;
}

/** One sample of the work of a pool: everything in it is from the same moment. */
export interface PoolSample {
  /** When the sample was begun, in milliseconds of the reader's own clock. */
  readonly at: number;
  /** Admissible demand in slots, less what is in flight on workers that are ending or no longer seen. */
  readonly demand: number;
  /** Renders in flight on workers that are seen and not ending. */
  readonly inFlightOnLive: number;
  /** The workers that reported lately, in any state. */
  readonly workers: readonly WorkerSample[];
}

/** `claiming`: takes work; `paused`: was asked to take none, and finishes its own; `ending`: has got its SIGTERM. */
export type WorkerState = 'starting' | 'claiming' | 'paused' | 'ending';

export interface WorkerSample {
  readonly id: string;
  /** Name of its pod; a worker without one is counted and never chosen. */
  readonly pod?: string;
  /** Slots in use. */
  readonly busy: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly state: WorkerState;
  /** Whether its renderers are in Chromium's sandbox, as the worker found itself. No size follows from it. */
  readonly sandbox?: 'on' | 'off' | 'unknown';
}

/**
 * `pending`: not ready yet, or not any more; `unreachable`: on a node that does not respond; `terminating`: has a
 * deletion timestamp, and counts towards no ReplicaSet's replicas any more.
 */
export type PodPhase = 'pending' | 'ready' | 'unreachable' | 'terminating';

export interface PodState {
  readonly name: string;
  /** Undefined until it has one. */
  readonly node?: string;
  readonly phase: PodPhase;
  /** `metadata.creationTimestamp` in milliseconds since the epoch. */
  readonly createdAt: number;
  /** Carries the deletion cost of a victim, as seen in the cache, not as just written. */
  readonly marked: boolean;
}

/** The API server's state of a pool's Deployment and pods: from the informers' caches, never older than own writes. */
export interface FleetState {
  /** The Deployment's `spec.replicas`. */
  readonly replicas: number;
  /** Pods of all the Deployment's ReplicaSets. */
  readonly pods: readonly PodState[];
  /** A rolling update is under way: pods may come meanwhile, and none is taken away. */
  readonly rolling: boolean;
}

/** State that one decision passes to the next. It is not stored: a new leader begins with `startState`. */
export interface AutoscalerState {
  /** Sizes wanted within the stabilisation window, oldest first, without those that a later and larger one covers. */
  readonly wanted: readonly { readonly at: number; readonly replicas: number }[];
  /** Shrinks within the last period: how many pods each took. */
  readonly shrinks: readonly { readonly at: number; readonly pods: number }[];
  /** Since when a victim's mark has been seen, by pod. */
  readonly markedSince: ReadonlyMap<string, number>;
  /** Since when a pod has been ready while its worker was not seen, by pod; in consecutive samples. */
  readonly silentSince: ReadonlyMap<string, number>;
  /** The last moment with a usable sample; at first the start. */
  readonly readableAt: number;
}

/** Why a pool keeps its size whatever its demand. */
export type HoldReason = 'Paused' | 'NoReading' | 'StaleReading';

/** The limit that kept a pool from the wanted size. */
export type ScalingLimit =
  | 'MaxReplicas'
  | 'MinReplicas'
  | 'MaxPendingPods'
  | 'StabilisationWindow'
  | 'ScaleDownRate'
  | 'RollingUpdate'
  | 'PodsStarting'
  | 'WorkersBusy'
  | 'WorkersYoung'
  | 'Draining';

/** The effect of a decision in one word: `Steady` also when a limit keeps it from doing more. */
type DecisionReason = 'Raised' | 'Shrunk' | 'Steady' | 'Held' | 'Fallback';

export interface Decision {
  /** `spec.replicas` to be applied now. While nothing changes (held or steady) it is the live value. */
  readonly desired: number;
  /** The size that the demand (or manual mode) calls for, before every bound. Undefined when it cannot be known. */
  readonly want: number | undefined;
  readonly reason: DecisionReason;
  readonly hold?: HoldReason;
  readonly limitedBy?: ScalingLimit;
  /** Ids of workers that are to pause (phase 1). They may have been requested before. */
  readonly pause: readonly string[];
  /** Ids of paused workers that are to resume. Their pods lose their mark. */
  readonly resume: readonly string[];
  /**
   * Ids of workers that are paused and were seen empty: their pods are to carry the deletion cost, and no other pod of
   * the pool is. `desired` leaves them out only when their marks have been in the cache for a while (phase 2), so a
   * caller writes marks before replicas in the same decision.
   */
  readonly remove: readonly string[];
}

/** Older samples are no ground for a decision, in milliseconds. */
export const SAMPLE_VALID_MS = 10_000;
/** How long the demand of an empty pool may be unknown before it gets its `fallbackReplicas`, in milliseconds. */
export const FALLBACK_AFTER_MS = 60_000;
/**
 * How long a mark must have been in the cache when its worker was sampled as empty, before the replicas go down, in
 * milliseconds (kubernetes#126138: 0.6 s was too short).
 */
export const MARK_SETTLED_MS = 3000;
/**
 * How long a ready pod's worker must have been unseen before its node counts as lost, in milliseconds. The time counts
 * from when the worker was first missed, ten seconds after its last report: when the database comes back, all of them
 * report within three seconds.
 */
export const SILENT_AFTER_MS = 5000;
