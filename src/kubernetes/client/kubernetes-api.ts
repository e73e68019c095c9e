import type { Kind, KubeObject, ObjectRef } from './kube-object.ts';

/**
 * The calls of the Kubernetes API that Platen makes. Bodies are raw JSON both ways. Every call has a deadline, and fails
 * with a `KubernetesError`. A call that the server puts off (429) is repeated after the time that it asks for, for as long
 * as its deadline allows; nothing else is repeated here.
 */
export interface KubernetesApi {
  /** @returns undefined when there is no such object. */
  get<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef, options?: CallOptions): Promise<T | undefined>;

  /** All objects, most recent, read page by page. What is watched is better asked of an informer. */
  list<T extends KubeObject>(kind: Kind<T>, where?: ListOptions): Promise<T[]>;

  /** One page of the most recent objects. A `continueAt` that has expired fails with 410. */
  listPage<T extends KubeObject>(kind: Kind<T>, where: PageOptions): Promise<Page<T>>;

  /** Fails with 409 `AlreadyExists` when there is one of that name. */
  create<T extends KubeObject>(kind: Kind<T>, object: New<T>, options?: WriteOptions): Promise<T>;

  /**
   * Server-side apply: what `object` says is as it says, and belongs to the manager; what it said before and says no more is
   * removed, or goes back to its default; everything else is left alone. Makes the object if there is none. Prefer
   * `applyWhenChanged`, which compares first.
   *
   * @throws KubernetesError 409 when a field has another manager and `force` is not set; its message names both.
   */
  apply<T extends KubeObject>(kind: Kind<T>, object: New<T>, options: ApplyOptions): Promise<T>;

  /** A JSON merge patch: null removes. With `metadata.resourceVersion` in it, it fails with 409 when the object has changed. */
  mergePatch<T extends KubeObject>(
    kind: Kind<T>,
    ref: ObjectRef,
    patch: object,
    options?: WriteOptions,
  ): Promise<T>;

  /** Replaces the object whole; fails with 409 when it has changed since its `metadata.resourceVersion`. */
  replace<T extends KubeObject>(kind: Kind<T>, object: T, options?: WriteOptions): Promise<T>;

  /** @returns false when there was no such object. Fails with 409 when a precondition does not hold. */
  delete(kind: Kind, ref: ObjectRef, options?: DeleteOptions): Promise<boolean>;

  /**
   * What happens to the objects of a kind after `resourceVersion`, until the server ends the watch, the signal aborts or
   * `silenceMs` pass without a word. Meant for informers.
   *
   * @throws KubernetesError also for an error that the server reports within the stream (410 among them), and for silence.
   */
  watch<T extends KubeObject>(kind: Kind<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;

  /** Ends all calls and watches, and closes the connections. */
  close(): Promise<void>;
}

/** An object to be made or applied: its `metadata` may leave out what the server gives. */
export type New<T extends KubeObject> = Pick<T, 'apiVersion' | 'kind' | 'metadata'> &
  Partial<Omit<T, 'apiVersion' | 'kind' | 'metadata'>>;

export interface CallOptions {
  /** A part of the object with a path of its own. */
  readonly subresource?: 'status' | 'scale' | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the call fails with `DeadlineExceeded`; default 10,000. */
  readonly deadlineMs?: number | undefined;
}

export interface WriteOptions extends CallOptions {
  /** Who the fields that are written belong to. */
  readonly fieldManager?: string | undefined;
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Take fields over that belong to other managers. */
  readonly force?: boolean | undefined;
}

export interface DeleteOptions extends CallOptions {
  /** Delete only the object with this uid, not another one of the same name. */
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  /** What becomes of the objects it owns; default `Background`. */
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly gracePeriodSeconds?: number | undefined;
}

export interface ListOptions extends Omit<CallOptions, 'subresource'> {
  /** Absent: the objects of all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface PageOptions extends ListOptions {
  /** At most so many objects. */
  readonly limit: number;
  /** From the page before. */
  readonly continueAt?: string | undefined;
}

export interface Page<T extends KubeObject> {
  readonly items: readonly T[];
  /** The state of the store that the whole list shows; a watch goes on from here. */
  readonly resourceVersion: string;
  /** Absent on the last page. */
  readonly continueAt: string | undefined;
}

export interface WatchOptions extends Omit<ListOptions, 'deadlineMs'> {
  readonly resourceVersion: string;
  /** After so long the server ends the watch, in milliseconds. */
  readonly lifetimeMs: number;
  /** A watch of which nothing is heard for so long is taken for dead, in milliseconds. Servers speak up every minute. */
  readonly silenceMs: number;
}

/** A bookmark has nothing of its object but the resource version: nothing has happened up to there. */
export interface WatchEvent<T extends KubeObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}
