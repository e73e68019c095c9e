import type { KubeObject, ObjectRef } from './kube-object.ts';

/** A copy of all objects of a kind, kept up to date. What it says may be some moments old, and never goes back in time. */
export interface Informer<T extends KubeObject> {
  get(ref: ObjectRef): T | undefined;

  /** All objects, in no particular order. */
  all(): IterableIterator<T>;

  /**
   * Calls back whenever an object appears, changes or goes. During the first listing too, so whoever starts late misses
   * nothing by asking `all`. What the listener throws is logged.
   */
  onChange(listener: ChangeListener<T>): void;

  /** Takes note of an object that a write has returned, so that what is older is never told any more. */
  remember(object: T): void;

  /** The whole list was read once in every namespace. */
  readonly synced: boolean;

  /** Resolves when `synced`; rejects with the signal's reason. */
  whenSynced(signal?: AbortSignal): Promise<void>;

  /**
   * Milliseconds since anything was heard of the server: an object, a bookmark or a whole list; of the namespace that was
   * silent for longest. Infinite before the first list.
   */
  readonly silentForMs: number;

  /** Resolves when its calls and watches have ended. */
  stop(): Promise<void>;
}

/**
 * @param key `namespace/name`, for a work queue.
 * @param now undefined when the object has gone.
 * @param before undefined when it is new.
 */
export type ChangeListener<T extends KubeObject> = (
  key: string,
  now: T | undefined,
  before: T | undefined,
) => void;
