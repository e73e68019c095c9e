/** How a pool is to be sized: from the RenderPool's spec. All numbers of pods are whole; times are in seconds. */
export interface PoolScaling {
  readonly minReplicas: number;
  readonly maxReplicas: number;
  /** Renders that one worker runs at a time; at least 1. */
  readonly slotsPerWorker: number;
  /** How full the workers shall be on average: above 0, at most 1. */
  readonly targetUtilisation: number;
  /** Slots that shall be free beyond the demand. The square root of the demand asks for more in large pools. */
  readonly headroomSlots: number;
  /** Free slots for each square root of the demand; `HEADROOM_BETA` unless the simulation tries another. */
  readonly headroomBeta?: number;
  /** Pods that may be on their way at a time. A raise stops there, and goes on as they become ready. */
  readonly maxPendingPods: number;
  /** The size of a pool that stands at zero when its demand has not been readable for a while. */
  readonly fallbackReplicas: number;
  readonly scaleDown: {
    /** A pool shrinks to the largest size that was wanted within so many seconds. */
    readonly stabilisationSeconds: number;
    /** Of the replicas at the period's beginning, so many per cent may go in one period; always at least one pod. */
    readonly maxPercent: number;
    readonly periodSeconds: number;
  };
  /** A worker that has been up for less than this is no victim. */
  readonly workerYoungSeconds: number;
  /** Maintenance: the size stays as it is. */
  readonly paused: boolean;
  /** Manual mode: this size instead of one that follows the demand. It is shrunk to in the same two phases. */
  readonly manualReplicas?: number;
}

/** One look at the work of a pool: everything in it from the same moment. */
export interface PoolReading {
  /** When the reading was begun, in milliseconds of the reader's own clock. */
  readonly at: number;
  /** Admissible demand in slots, less what is in flight on workers that are ending or no longer seen. */
  readonly demand: number;
  /** Renders in flight on workers that are neither ending nor unseen. */
  readonly inFlightOnLive: number;
  /** The workers that were heard of lately, whatever their state. */
  readonly workers: readonly WorkerReading[];
  /** Of the topics that they take work from; undefined when nobody has looked yet. */
  readonly partitions?: number | undefined;
}

/** `claiming`: takes work; `paused`: was asked to take none, and finishes what it has; `ending`: has got its SIGTERM. */
export type WorkerState = 'starting' | 'claiming' | 'paused' | 'ending';

export interface WorkerReading {
  readonly id: string;
  /** Name of its pod; a worker without one is counted and never chosen. */
  readonly pod?: string;
  /** Slots in use. */
  readonly busy: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly state: WorkerState;
  /** Whether its renderers are in Chromium's sandbox, as it found itself. No size follows from it. */
  readonly sandbox?: 'on' | 'off' | 'unknown';
}

/**
 * `pending`: not ready yet, or not any more; `unreachable`: on a node that does not answer; `terminating`: has a deletion
 * time-stamp, and counts towards no ReplicaSet's replicas any more.
 */
export type PodPhase = 'pending' | 'ready' | 'unreachable' | 'terminating';

export interface PodState {
  readonly name: string;
  /** Undefined until it has one. */
  readonly node?: string;
  readonly phase: PodPhase;
  /** `metadata.creationTimestamp` in milliseconds since the epoch. */
  readonly createdAt: number;
  /** Carries the deletion cost that a victim gets, as seen in the cache (not: as just written). */
  readonly marked: boolean;
}

/** What the API server says of a pool's Deployment and pods: the informers' caches, never older than own writes. */
export interface FleetState {
  /** The Deployment's `spec.replicas`. */
  readonly replicas: number;
  /** Pods of all the Deployment's ReplicaSets. */
  readonly pods: readonly PodState[];
  /** A rolling update is under way: pods may come meanwhile, and none is taken away. */
  readonly rolling: boolean;
}

/** What one decision leaves to the next. A new leader begins with `startState`; nothing of it is stored. */
export interface AutoscalerState {
  /** Sizes wanted within the stabilisation window, oldest first; those that a later and larger one covers are gone. */
  readonly wanted: readonly { readonly at: number; readonly replicas: number }[];
  /** Shrinks within the last period: how many pods each took. */
  readonly shrinks: readonly { readonly at: number; readonly pods: number }[];
  /** Since when a victim's mark has been seen, by pod. */
  readonly markedSince: ReadonlyMap<string, number>;
  /** Since when a pod has been called ready whose worker is not seen, by pod; in readings that follow each other. */
  readonly silentSince: ReadonlyMap<string, number>;
  /** The last moment with a usable reading (at the start: the start). */
  readonly readableAt: number;
}

/** Why a pool is left at its size whatever its demand. */
export type HoldReason = 'Paused' | 'NoReading' | 'StaleReading';

/** What kept a pool from the size that was wanted. */
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

/** In one word what a decision does: `Steady` also when a limit keeps it from doing more. */
export type DecisionReason = 'Raised' | 'Shrunk' | 'Steady' | 'Held' | 'Fallback';

export interface Decision {
  /** `spec.replicas` to be applied now. While nothing changes (held or steady) it is the live value. */
  readonly desired: number;
  /** The size that demand (or manual mode) asks for, before every bound. Undefined when it cannot be known. */
  readonly want: number | undefined;
  readonly reason: DecisionReason;
  readonly hold?: HoldReason;
  readonly limitedBy?: ScalingLimit;
  /** Ids of workers to be asked to claim nothing more (phase 1). They may have been asked before. */
  readonly pause: readonly string[];
  /** Ids of paused workers that are to claim again. Their pods lose their mark. */
  readonly resume: readonly string[];
  /**
   * Ids of workers that are paused and were seen empty: their pods are to carry the deletion cost, and no other pod of the
   * pool is. `desired` counts them off only when their marks have been in the cache for a while (phase 2), so a caller
   * writes marks first and replicas as they stand in the same decision.
   */
  readonly remove: readonly string[];
}

/** Data older than this is no ground for a decision, in milliseconds. */
export const READING_VALID_MS = 10_000;
/** How long the demand of an empty pool may be unknown before the pool goes to its `fallbackReplicas`, in milliseconds. */
export const FALLBACK_AFTER_MS = 60_000;
/**
 * How long a mark must have been in the cache when its worker was read to be empty, before the replicas go down
 * (kubernetes#126138: 0.6 s was too short).
 */
export const MARK_SETTLED_MS = 3000;
/**
 * How long a ready pod's worker must have been unseen before its node is taken for lost, in milliseconds. It counts from when
 * the worker was missed first, ten seconds after its last word: when the database comes back, all of them report within three.
 */
export const SILENT_AFTER_MS = 5000;
