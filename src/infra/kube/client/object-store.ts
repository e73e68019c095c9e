import { isOlderVersion, type KubeObject, keyOf, type ObjectRef } from './kube-object.ts';

/** The number of deleted objects that are remembered, with the version in which they were deleted. */
const MAX_GONE = 1000;
/** Older than every version. */
const NO_VERSION = '';

/** @param key `namespace/name`. @param now undefined when the object has gone. @param before when it is new. */
export type ChangeListener<T extends KubeObject> = (
  key: string,
  now: T | undefined,
  before: T | undefined,
) => void;

interface Entry<T> {
  readonly object: T;
  readonly version: string;
}

/** The objects that an informer knows, each in the newest version of a list, a watch or an own write. */
export class ObjectStore<T extends KubeObject> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #gone = new Map<string, string>();
  readonly #onChange: ChangeListener<T>;

  constructor(onChange: ChangeListener<T>) {
    this.#onChange = onChange;
  }

  get(ref: ObjectRef): T | undefined {
    return this.#entries.get(keyOf(ref))?.object;
  }

  *all(): IterableIterator<T> {
    for (const { object } of this.#entries.values()) yield object;
  }

  /** Stores an object that was read, written or changed. One that is not newer than the known one is ignored. */
  put(object: T): void {
    const key = keyOf(object.metadata);
    const before = this.#entries.get(key);
    const version = versionOf(object);
    const known = before?.version ?? this.#gone.get(key);
    if (known !== undefined && !isOlderVersion(known, version)) return;
    this.#entries.set(key, { object, version });
    this.#gone.delete(key);
    if (before?.object.metadata.resourceVersion !== version) this.#onChange(key, object, before?.object);
  }

  /** Removes an object, given in its last version; a newer one of its name stays. */
  remove(object: T): void {
    const key = keyOf(object.metadata);
    const version = versionOf(object);
    const before = this.#entries.get(key);
    if (before !== undefined && isOlderVersion(version, before.version)) return;
    this.#bury(key, version);
    if (before !== undefined) this.#onChange(key, undefined, before.object);
  }

  /** A namespace, or all, was listed whole: objects that are neither in the list nor newer are gone. */
  removeAllBut(keys: ReadonlySet<string>, namespace: string | undefined, listVersion: string): void {
    for (const [key, { object, version }] of this.#entries) {
      const belongs = namespace === undefined || object.metadata.namespace === namespace;
      if (!belongs || keys.has(key) || isOlderVersion(listVersion, version)) continue;
      this.#bury(key, listVersion);
      this.#onChange(key, undefined, object);
    }
  }

  /** The server's versions have gone back, as after a restored backup: what it sends from now on counts as newer. */
  distrustVersions(): void {
    this.#gone.clear();
    for (const [key, { object }] of this.#entries) this.#entries.set(key, { object, version: NO_VERSION });
  }

  /** The response to an own write may come after the watch has reported the deletion: the object must not come back. */
  #bury(key: string, version: string): void {
    this.#entries.delete(key);
    this.#gone.delete(key);
    this.#gone.set(key, version);
    const oldest = this.#gone.keys().next();
    if (this.#gone.size > MAX_GONE && !oldest.done) this.#gone.delete(oldest.value);
  }
}

function versionOf({ metadata }: KubeObject): string {
  return metadata.resourceVersion ?? NO_VERSION;
}
