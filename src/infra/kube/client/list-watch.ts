import { backoffMs } from '../../async/backoff.ts';
import { pause, type Timers } from '../../async/timers.ts';
import { isExpired, KubernetesError } from '../kubernetes-error.ts';
import { isOlderVersion, type Kind, type KubeObject, keyOf } from './kube-object.ts';
import type { KubernetesApi, WatchEvent } from './kubernetes-api.ts';
import type { ObjectStore } from './object-store.ts';

export interface ListWatchTiming {
  /** Objects per page of a list: one page takes memory in addition to the objects that are kept. */
  readonly pageSize: number;
  /** In milliseconds. A server sends a bookmark every minute; a watch that is silent for this long is dead. */
  readonly silenceMs: number;
  /** How often everything is listed again, in case a watch has missed something, in milliseconds. */
  readonly relistMs: number;
  /** The longest that one watch lives, in milliseconds. */
  readonly watchMs: number;
  /** The first back-off after a failure and the longest, in milliseconds. */
  readonly firstRetryMs: number;
  readonly maxRetryMs: number;
}

export const DEFAULT_TIMING: ListWatchTiming = {
  pageSize: 250,
  silenceMs: 90_000,
  relistMs: 900_000,
  watchMs: 480_000,
  firstRetryMs: 500,
  maxRetryMs: 30_000,
};

interface ListWatchOptions<T extends KubeObject> {
  readonly api: KubernetesApi;
  readonly kind: Kind<T>;
  /** Absent: all namespaces. */
  readonly namespace: string | undefined;
  readonly labelSelector: string | undefined;
  readonly store: ObjectStore<T>;
  /** Drops fields of an object that no caller reads. */
  readonly transform: (object: T) => T;
  readonly timing: ListWatchTiming;
  readonly timers: Timers;
  /** Called when the first list succeeds, when lists or watches begin to fail, and when they no longer do. */
  readonly onState: () => void;
  readonly onTrouble: (error: unknown, failures: number, retryMs: number) => void;
}

/** In milliseconds. A shorter watch without any event has failed: opening it again at once would be a hot loop. */
const SHORT_WATCH_MS = 1000;
/** After this many failures in a row the version to continue from is doubted as well. */
const FAILURES_TO_RELIST = 3;

/**
 * Keeps a store up to date with the objects of one namespace, or of all: lists them page by page, watches from there,
 * and starts over after any error.
 *
 *   list ──▶ watch ──▶ ended, silent, cut off: watch again from the last version
 *    ▲         │
 *    └─────────┘ version too old (410), malformed line, several failures in a row, time for the regular list
 */
export class ListWatch<T extends KubeObject> {
  readonly #options: ListWatchOptions<T>;
  /** Everything up to this version is in the store; undefined when it has to be listed. */
  #version: string | undefined;
  /** The newest version ever received: an older list shows that the server has gone back. */
  #newest = '';
  #listDueMs = 0;
  #heardAtMs = Number.NEGATIVE_INFINITY;
  #listed = false;
  #trouble: unknown;
  /** Whether the current or last watch has delivered anything or lived long enough. */
  #watched = false;

  constructor(options: ListWatchOptions<T>) {
    this.#options = options;
  }

  get listed(): boolean {
    return this.#listed;
  }

  /** When the server last sent anything, on the clock of the timers; minus infinity before the first list. */
  get heardAtMs(): number {
    return this.#listed ? this.#heardAtMs : Number.NEGATIVE_INFINITY;
  }

  /** Why the last list or watch failed; undefined when it succeeded, and before the first response. */
  get trouble(): unknown {
    return this.#trouble;
  }

  /** Resolves when the signal has aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { timers, timing, onTrouble } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      this.#watched = false;
      const trouble = await this.#listAndWatch(signal);
      if (signal.aborted) return;
      if (this.#watched) failures = 0;
      if (trouble === undefined) continue;
      failures += 1;
      if (isVersionDoubtful(trouble, failures)) this.#version = undefined;
      const requestedMs = trouble instanceof KubernetesError ? (trouble.retryAfterMs ?? 0) : 0;
      const backoff = backoffMs(failures, timing.firstRetryMs, timing.maxRetryMs, Math.random);
      // Versions expire in ordinary operation; only a second time in a row is a reason to wait.
      const retryMs = isExpired(trouble) && failures === 1 ? 0 : Math.max(backoff, requestedMs);
      onTrouble(trouble, failures, retryMs);
      if (!isExpired(trouble)) this.#setState(true, trouble);
      if (retryMs > 0) await pause(timers, retryMs, signal).catch(() => {});
    }
  }

  /** @returns the error; undefined when the watch has ended without one. */
  async #listAndWatch(signal: AbortSignal): Promise<unknown> {
    const { timers } = this.#options;
    try {
      if (this.#version === undefined || timers.nowMs() >= this.#listDueMs) await this.#list(signal);
      const beganMs = timers.nowMs();
      try {
        await this.#watch(signal);
      } finally {
        this.#watched ||= timers.nowMs() - beganMs >= SHORT_WATCH_MS;
      }
      return this.#watched ? undefined : new Error('the watch ended at once');
    } catch (error) {
      return error;
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { api, kind, namespace, labelSelector, store, transform, timing, timers } = this.#options;
    const keys = new Set<string>();
    let continueAt: string | undefined;
    let version = '';
    do {
      const page = await api.listPage(kind, {
        namespace,
        labelSelector,
        limit: timing.pageSize,
        continueAt,
        signal,
      });
      if (continueAt === undefined) this.#noticeBackup(page.resourceVersion);
      for (const object of page.items) {
        keys.add(keyOf(object.metadata));
        store.put(transform(object));
      }
      version = page.resourceVersion;
      continueAt = page.continueAt;
      this.#heard();
    } while (continueAt !== undefined);
    store.removeAllBut(keys, namespace, version);
    this.#reached(version);
    // Spread, so that many informers do not list at the same time.
    this.#listDueMs = timers.nowMs() + timing.relistMs * (0.9 + 0.2 * Math.random());
    const isFirst = !this.#listed;
    this.#listed = true;
    this.#setState(isFirst, undefined);
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { api, kind, namespace, labelSelector, timing, timers } = this.#options;
    const untilListMs = this.#listDueMs - timers.nowMs();
    const events = api.watch(kind, {
      namespace,
      labelSelector,
      signal,
      resourceVersion: this.#version ?? '',
      silenceMs: timing.silenceMs,
      lifetimeMs: Math.min(untilListMs, timing.watchMs * (0.5 + 0.5 * Math.random())),
    });
    for await (const event of events) {
      this.#take(event);
      this.#watched = true;
      this.#heard();
      this.#setState(false, undefined);
    }
  }

  #take({ type, object }: WatchEvent<T>): void {
    const { store, transform } = this.#options;
    if (type === 'DELETED') store.remove(transform(object));
    else if (type !== 'BOOKMARK') store.put(transform(object));
    this.#reached(object.metadata.resourceVersion ?? this.#version ?? '');
  }

  #reached(version: string): void {
    this.#version = version;
    if (isOlderVersion(this.#newest, version)) this.#newest = version;
  }

  /** A list is the most recent state, so a list older than what was received before is from a restored server. */
  #noticeBackup(listVersion: string): void {
    if (!isOlderVersion(listVersion, this.#newest)) return;
    this.#options.store.distrustVersions();
    this.#newest = listVersion;
  }

  #setState(isNew: boolean, trouble: unknown): void {
    const before = this.#trouble;
    this.#trouble = trouble;
    if (isNew || before !== trouble) this.#options.onState();
  }

  #heard(): void {
    this.#heardAtMs = this.#options.timers.nowMs();
  }
}

function isVersionDoubtful(trouble: unknown, failures: number): boolean {
  if (isExpired(trouble) || failures % FAILURES_TO_RELIST === 0) return true;
  return trouble instanceof KubernetesError && trouble.reason === 'MalformedWatch';
}
