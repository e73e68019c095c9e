import type { Kind, KubeObject, ObjectRef } from './kube-object.ts';

/**
 * The calls of the Kubernetes API that Platen makes. Bodies are raw JSON both ways. Every call has a deadline, and
 * fails with a `KubernetesError`. A call that the server defers (429) is repeated after the time that the server names,
 * as long as the deadline allows; nothing else is repeated here.
 */
export interface KubernetesApi {
  /** @returns undefined when there is no such object. */
  get<T extends KubeObject>(kind: Kind<T>, ref: ObjectRef, options?: CallOptions): Promise<T | undefined>;

  /** All objects, most recent, read page by page. For watched objects prefer an informer. */
  list<T extends KubeObject>(kind: Kind<T>, where?: ListOptions): Promise<T[]>;

  /** One page of the most recent objects. A `continueAt` that has expired fails with 410. */
  listPage<T extends KubeObject>(kind: Kind<T>, where: PageOptions): Promise<Page<T>>;

  /** Fails with 409 `AlreadyExists` when there is one of that name. */
  create<T extends KubeObject>(kind: Kind<T>, object: New<T>, options?: CreateOptions): Promise<T>;

  /**
   * Server-side apply: the fields of `object` are set, and owned by the manager; fields that it had before and has no
   * more are removed, or go back to their defaults; everything else is left alone. Makes the object if there is none.
   * Prefer `applyWhenChanged`, which compares first.
   *
   * @throws KubernetesError 409 when a field has another manager and `force` is not set; its message names both.
   */
  apply<T extends KubeObject>(kind: Kind<T>, object: New<T>, options: ApplyOptions): Promise<T>;

  /** A JSON merge patch: null removes. With `metadata.resourceVersion` it fails with 409 after a change. */
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
   * The changes of the objects of a kind after `resourceVersion`, until the server ends the watch, the signal aborts or
   * the server is silent for `silenceMs`. Meant for informers.
   *
   * @throws KubernetesError also for an error that the server reports within the stream (410 among them), and for
   * silence.
   */
  watch<T extends KubeObject>(kind: Kind<T>, options: WatchOptions): AsyncIterable<WatchEvent<T>>;

  /**
   * What the API server publishes of a group and version, as an OpenAPI v3 document. Every account may read it, unless the
   * cluster has taken that right (`system:discovery`) from them.
   */
  openApi(apiVersion: string, options?: CallOptions): Promise<unknown>;

  /** Ends all calls and watches, and closes the connections. */
  close(): Promise<void>;
}

/** An object to be made or applied: its `metadata` may lack the fields that the server sets. */
export type New<T extends KubeObject> = Pick<T, 'apiVersion' | 'kind' | 'metadata'> &
  Partial<Omit<T, 'apiVersion' | 'kind' | 'metadata'>>;

export interface CallOptions {
  /** A part of the object with its own path. */
  readonly subresource?: 'status' | 'scale' | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the call fails with `DeadlineExceeded`; default 10,000. */
  readonly deadlineMs?: number | undefined;
}

export interface WriteOptions extends CallOptions {
  /** The manager that owns the written fields. */
  readonly fieldManager?: string | undefined;
}

export interface CreateOptions extends WriteOptions {
  /** `Strict`: unknown and repeated fields are refused (400), instead of being dropped with a warning. */
  readonly fieldValidation?: 'Strict' | undefined;
}

export interface ApplyOptions extends WriteOptions {
  readonly fieldManager: string;
  /** Takes over fields that belong to other managers. */
  readonly force?: boolean | undefined;
}

export interface DeleteOptions extends CallOptions {
  /** Delete only the object with this uid, not another one of the same name. */
  readonly uid?: string | undefined;
  readonly gracePeriodSeconds?: number | undefined;
}

export interface ListOptions extends Omit<CallOptions, 'subresource'> {
  /** Absent: the objects of all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface PageOptions extends ListOptions {
  /** Objects per page, at most. */
  readonly limit: number;
  /** From the previous page. */
  readonly continueAt?: string | undefined;
}

export interface Page<T extends KubeObject> {
  readonly items: readonly T[];
  /** The version that the whole list shows; a watch continues from here. */
  readonly resourceVersion: string;
  /** Absent on the last page. */
  readonly continueAt: string | undefined;
}

export interface WatchOptions extends Omit<ListOptions, 'deadlineMs'> {
  readonly resourceVersion: string;
  /** The server ends the watch after this time, in milliseconds. */
  readonly lifetimeMs: number;
  /** A watch that is silent for this long, in milliseconds, counts as dead. Servers send a bookmark every minute. */
  readonly silenceMs: number;
}

/** A bookmark has only the resource version of its object: there are no further changes up to it. */
export interface WatchEvent<T extends KubeObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  readonly object: T;
}
