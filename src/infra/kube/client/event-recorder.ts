import { createHash, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { systemTimers } from '../../async/timers.ts';
import { systemClock } from '../../clock.ts';
import type { Logger } from '../../telemetry/logger.ts';
import { isNotFound } from '../kubernetes-error.ts';
import { TokenBucket } from '../token-bucket.ts';
import { type Kind, type KubeObject, keyOf } from './kube-object.ts';
import type { KubernetesApi, New } from './kubernetes-api.ts';
import { microTime } from './micro-time.ts';

export interface EventContent {
  readonly type: 'Normal' | 'Warning';
  /** Why, one word in CamelCase from a documented list. */
  readonly reason: string;
  /** The action that was done or tried, one word in CamelCase: `Scale`, `Mirror`. */
  readonly action: string;
  /** For people; cut at 1,024 bytes. A number that changes every time makes every event a new one. */
  readonly note: string;
}

interface EventRecorderOptions {
  readonly api: KubernetesApi;
  readonly logger: Pick<Logger, 'warn'>;
  /** The reporting controller: `platen.dev/controller`. */
  readonly controller: string;
  /** The reporting process: the name of its pod. */
  readonly instance: string;
}

type Event = KubeObject<{
  readonly regarding: object;
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
}>;

export const EVENTS: Kind<Event> = { group: 'events.k8s.io', version: 'v1', plural: 'events', kind: 'Event' };

/** An event that is written, and how often it has happened since; one write at a time. */
interface Series {
  readonly about: KubeObject;
  readonly content: EventContent;
  count: number;
  lastAt: Date;
  written: { readonly name: string; readonly count: number } | undefined;
  writing: Promise<void> | undefined;
  cancelTimer: (() => void) | undefined;
}

/** The same event within this time, in milliseconds, is counted on the first one. */
const SAME_FOR_MS = 600_000;
/** The count of an event is written at most this often, in milliseconds. */
const COUNT_EVERY_MS = 10_000;
const MAX_SERIES = 2000;
/** As client-go's spam filter: 25 events at once about one object, and one every five minutes in the long run. */
const BURST = 25;
const PER_SECOND = 1 / 300;
/** The API server's limit, in bytes. */
const MAX_NOTE_BYTES = 1024;
/** The namespace for events of cluster-scoped objects. */
const DEFAULT_NAMESPACE = 'default';

/** Reports to people what happened to an object: `kubectl describe` and `kubectl events` show it for about an hour. */
export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #series = new LRUCache<string, Series>({
    max: MAX_SERIES,
    dispose: (series) => series.cancelTimer?.(),
  });
  readonly #budgets = new LRUCache<string, TokenBucket>({ max: MAX_SERIES });
  readonly #writing = new Set<Promise<void>>();

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  /**
   * Never fails and never waits. The same event of the same object is counted on the first one, and further events of
   * an object with too many of them are dropped.
   */
  record(about: KubeObject, content: EventContent): void {
    const key = digestOf(about, content);
    const lastAt = systemClock.now();
    const series = this.#series.get(key);
    if (series !== undefined && lastAt.getTime() - series.lastAt.getTime() < SAME_FOR_MS) {
      series.count += 1;
      series.lastAt = lastAt;
      this.#writeLater(series);
      return;
    }
    if (!this.#maySpeak(about)) return;
    const begun: Series = {
      about,
      content: { ...content, note: cutNote(content.note) },
      count: 1,
      lastAt,
      written: undefined,
      writing: undefined,
      cancelTimer: undefined,
    };
    this.#series.set(key, begun);
    this.#writeNow(begun);
  }

  /** Resolves when everything recorded so far is written, or could not be. */
  async flush(): Promise<void> {
    await Promise.all(this.#writing);
    for (const series of this.#series.values())
      if (series.count !== series.written?.count) this.#writeNow(series);
    await Promise.all(this.#writing);
  }

  #maySpeak({ kind, metadata }: KubeObject): boolean {
    const key = `${kind}/${keyOf(metadata)}`;
    const nowMs = systemTimers.nowMs();
    const budget = this.#budgets.get(key) ?? new TokenBucket(PER_SECOND, BURST, nowMs);
    this.#budgets.set(key, budget);
    return budget.take(nowMs) === 0;
  }

  #writeLater(series: Series): void {
    series.cancelTimer ??= systemTimers.after(COUNT_EVERY_MS, () => this.#writeNow(series));
  }

  #writeNow(series: Series): void {
    series.cancelTimer?.();
    series.cancelTimer = undefined;
    if (series.writing !== undefined) {
      this.#writeLater(series);
      return;
    }
    const writing = this.#write(series)
      .catch((err) =>
        this.#options.logger.warn({ err, reason: series.content.reason }, 'an event was not reported'),
      )
      .finally(() => {
        series.writing = undefined;
        this.#writing.delete(writing);
      });
    series.writing = writing;
    this.#writing.add(writing);
  }

  async #write(series: Series): Promise<void> {
    const { count, written } = series;
    if (written?.count === count) return;
    if (written === undefined || !(await this.#count(series, written.name))) {
      const event = this.#eventOf(series);
      await this.#options.api.create(EVENTS, event);
      series.written = { name: event.metadata.name, count };
    } else series.written = { name: written.name, count };
  }

  /** @returns false when the event has expired meanwhile: events are kept for about an hour. */
  async #count(series: Series, name: string): Promise<boolean> {
    const ref = { namespace: namespaceOf(series.about), name };
    const lastObservedTime = microTime(series.lastAt);
    try {
      await this.#options.api.mergePatch(EVENTS, ref, { series: { count: series.count, lastObservedTime } });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  #eventOf({ about, content, lastAt, count }: Series): New<Event> {
    const { type, reason, action, note } = content;
    const { name, namespace, uid, resourceVersion } = about.metadata;
    return {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: `${name.slice(0, 200)}.${randomUUID()}`, namespace: namespaceOf(about) },
      ...{ eventTime: microTime(lastAt), type, reason, action, note },
      ...{ reportingController: this.#options.controller, reportingInstance: this.#options.instance },
      regarding: { apiVersion: about.apiVersion, kind: about.kind, name, namespace, uid, resourceVersion },
      // The field exists from the second occurrence on.
      ...(count > 1 && { series: { count, lastObservedTime: microTime(lastAt) } }),
    };
  }
}

function cutNote(note: string): string {
  const { read } = new TextEncoder().encodeInto(note, new Uint8Array(MAX_NOTE_BYTES));
  return note.slice(0, read);
}

function namespaceOf({ metadata }: KubeObject): string {
  return metadata.namespace ?? DEFAULT_NAMESPACE;
}

function digestOf({ kind, metadata }: KubeObject, { type, reason, action, note }: EventContent): string {
  const fields = [kind, keyOf(metadata), metadata.uid, type, reason, action, note];
  return createHash('sha256').update(JSON.stringify(fields)).digest('base64');
}
