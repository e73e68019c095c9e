import { systemTimers, type Timers } from '../../async/timers.ts';
import { unlessAborted } from '../../async/unless-aborted.ts';
import type { Logger } from '../../telemetry/logger.ts';
import type { Kind, KubeObject, ObjectRef } from './kube-object.ts';
import type { KubernetesApi } from './kubernetes-api.ts';
import { DEFAULT_TIMING, ListWatch, type ListWatchTiming } from './list-watch.ts';
import { type ChangeListener, ObjectStore } from './object-store.ts';

export interface NamespaceState {
  /** Its objects have been listed once; they are kept when it can be read no more. */
  readonly listed: boolean;
  /** Why the last list or watch failed; undefined when it succeeded, and before the first response. */
  readonly trouble: unknown;
}

interface InformerOptions<T extends KubeObject> {
  readonly api: KubernetesApi;
  readonly kind: Kind<T>;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  /** Each is listed and watched on its own; absent: the whole cluster at once. */
  readonly namespaces?: readonly string[] | undefined;
  readonly labelSelector?: string | undefined;
  /** Drops fields that no caller reads, to save memory. The metadata's name and version have to stay. */
  readonly transform?: (object: T) => T;
  /** Called with a namespace when its `stateOf` has changed. */
  readonly onState?: (namespace: string | undefined) => void;
  readonly timing?: Partial<ListWatchTiming>;
  readonly timers?: Timers;
}

/**
 * A copy of all objects of a kind, kept up to date. It may be some moments old, and never goes back in time. It begins to
 * list at once; failures are logged and tried again for ever.
 */
export class Informer<T extends KubeObject> {
  readonly #transform: (object: T) => T;
  readonly #timers: Timers;
  readonly #logger: Pick<Logger, 'warn' | 'error'>;
  readonly #kind: string;
  readonly #store: ObjectStore<T>;
  /** By namespace; under undefined, that of the whole cluster. */
  readonly #listWatches: ReadonlyMap<string | undefined, ListWatch<T>>;
  readonly #listeners: ChangeListener<T>[] = [];
  readonly #synced = Promise.withResolvers<void>();
  readonly #stopping = new AbortController();
  readonly #running: Promise<unknown>;

  constructor({ transform = (object) => object, timers = systemTimers, ...options }: InformerOptions<T>) {
    this.#transform = transform;
    this.#timers = timers;
    this.#logger = options.logger;
    this.#kind = options.kind.kind;
    this.#store = new ObjectStore((...change) => this.#report(change));
    const open = (namespace: string | undefined) =>
      new ListWatch({
        api: options.api,
        kind: options.kind,
        namespace,
        labelSelector: options.labelSelector,
        store: this.#store,
        transform,
        timing: { ...DEFAULT_TIMING, ...options.timing },
        timers,
        onState: () => {
          if (this.synced) this.#synced.resolve();
          options.onState?.(namespace);
        },
        onTrouble: (err, failures, retryMs) => {
          this.#logger.warn(
            { err, kind: this.#kind, namespace, failures, retryMs },
            'a watch has to begin again',
          );
        },
      });
    this.#listWatches = new Map((options.namespaces ?? [undefined]).map((name) => [name, open(name)]));
    this.#running = Promise.all([...this.#listWatches.values()].map((one) => one.run(this.#stopping.signal)));
  }

  get(ref: ObjectRef): T | undefined {
    return this.#store.get(ref);
  }

  /** All objects, in no particular order. */
  all(): IterableIterator<T> {
    return this.#store.all();
  }

  /**
   * Calls back whenever an object appears, changes or goes; during the first listing too, so a late listener misses
   * nothing if it reads `all`. Errors of the listener are logged.
   */
  onChange(listener: ChangeListener<T>): void {
    this.#listeners.push(listener);
  }

  /** Takes over an object that a write has returned, so that no older one is reported any more. */
  remember(object: T): void {
    this.#store.put(this.#transform(object));
  }

  /** The whole list was read once in every namespace. */
  get synced(): boolean {
    return [...this.#listWatches.values()].every(({ listed }) => listed);
  }

  stateOf(namespace: string): NamespaceState {
    const { listed = false, trouble } = this.#listWatches.get(namespace) ?? {};
    return { listed, trouble };
  }

  /** Resolves when `synced`; rejects with the signal's reason. */
  whenSynced(signal?: AbortSignal): Promise<void> {
    return signal === undefined ? this.#synced.promise : unlessAborted(signal, this.#synced.promise);
  }

  /**
   * Milliseconds since the server sent anything: an object, a bookmark or a whole list. Of the listed namespaces, that
   * of the one that was silent for longest. Infinite before the first list.
   */
  get silentForMs(): number {
    const nowMs = this.#timers.nowMs();
    const silent = [...this.#listWatches.values()]
      .filter(({ listed }) => listed)
      .map(({ heardAtMs }) => nowMs - heardAtMs);
    return silent.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...silent);
  }

  /** Resolves when its calls and watches have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the informer stops'));
    await this.#running;
  }

  #report(change: Parameters<ChangeListener<T>>): void {
    for (const listener of this.#listeners) {
      try {
        listener(...change);
      } catch (err) {
        this.#logger.error({ err, kind: this.#kind, key: change[0] }, 'a listener failed on a change');
      }
    }
  }
}
