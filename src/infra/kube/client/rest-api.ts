import type { Timers } from '../../async/timers.ts';
import { isNotFound, KubernetesError } from '../kubernetes-error.ts';
import { apiVersionOf, type Kind, type KubeObject, type ObjectRef } from './kube-object.ts';
import type {
  ApplyOptions,
  CallOptions,
  CreateOptions,
  DeleteOptions,
  KubernetesApi,
  ListOptions,
  New,
  Page,
  PageOptions,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './kubernetes-api.ts';
import { collectionPath, objectPath, withQuery } from './paths.ts';
import type { Call, Transport } from './transport.ts';
import { readWatchEvents } from './watch-stream.ts';
import { Watchdog } from './watchdog.ts';

const DEADLINE_MS = 10_000;
/** Objects per page of a list that is read whole. */
const PAGE_SIZE = 250;
const MERGE_PATCH = 'application/merge-patch+json';
const APPLY_PATCH = 'application/apply-patch+yaml';

interface ListBody {
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items: readonly KubeObject[] | null;
}

/** The calls as paths, bodies and content types. */
export class RestApi implements KubernetesApi {
  readonly #transport: Transport;
  readonly #timers: Timers;

  constructor(transport: Transport, timers: Timers) {
    this.#transport = transport;
    this.#timers = timers;
  }

  get<T extends KubeObject>(
    kind: Kind<T>,
    ref: ObjectRef,
    options: CallOptions = {},
  ): Promise<T | undefined> {
    const call = this.#call<T>('GET', objectPath(kind, ref, options.subresource), options);
    return call.catch((error) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
  }

  async list<T extends KubeObject>(kind: Kind<T>, where: ListOptions = {}): Promise<T[]> {
    const objects: T[] = [];
    let continueAt: string | undefined;
    do {
      const page: Page<T> = await this.listPage(kind, { ...where, limit: PAGE_SIZE, continueAt });
      objects.push(...page.items);
      continueAt = page.continueAt;
    } while (continueAt !== undefined);
    return objects;
  }

  async listPage<T extends KubeObject>(kind: Kind<T>, where: PageOptions): Promise<Page<T>> {
    const { namespace, labelSelector, fieldSelector, limit, continueAt } = where;
    const query = { labelSelector, fieldSelector, limit, continue: continueAt };
    const path = withQuery(collectionPath(kind, namespace), query);
    const { metadata, items } = await this.#call<ListBody>('GET', path, where);
    // The items of a list name their kind only when it is a custom one.
    const type = { apiVersion: apiVersionOf(kind), kind: kind.kind };
    return {
      items: (items ?? []).map((item) => ({ ...type, ...item }) as T),
      resourceVersion: metadata.resourceVersion ?? '',
      continueAt: metadata.continue || undefined,
    };
  }

  create<T extends KubeObject>(kind: Kind<T>, object: New<T>, options: CreateOptions = {}): Promise<T> {
    const { namespace, name } = object.metadata;
    const path =
      options.subresource === undefined
        ? collectionPath(kind, namespace)
        : objectPath(kind, { namespace, name }, options.subresource);
    const { fieldManager, fieldValidation } = options;
    return this.#call('POST', withQuery(path, { fieldManager, fieldValidation }), options, object);
  }

  apply<T extends KubeObject>(kind: Kind<T>, object: New<T>, options: ApplyOptions): Promise<T> {
    const path = objectPath(kind, object.metadata, options.subresource);
    const query = { fieldManager: options.fieldManager, force: options.force };
    return this.#call('PATCH', withQuery(path, query), options, object, APPLY_PATCH);
  }

  mergePatch<T extends KubeObject>(
    kind: Kind<T>,
    ref: ObjectRef,
    patch: object,
    options: WriteOptions = {},
  ): Promise<T> {
    const path = objectPath(kind, ref, options.subresource);
    const query = { fieldManager: options.fieldManager };
    return this.#call('PATCH', withQuery(path, query), options, patch, MERGE_PATCH);
  }

  replace<T extends KubeObject>(kind: Kind<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const path = objectPath(kind, object.metadata, options.subresource);
    return this.#call('PUT', withQuery(path, { fieldManager: options.fieldManager }), options, object);
  }

  async delete(kind: Kind, ref: ObjectRef, options: DeleteOptions = {}): Promise<boolean> {
    const { uid, gracePeriodSeconds } = options;
    const preconditions = uid === undefined ? undefined : { uid };
    const how = { preconditions, propagationPolicy: 'Background', gracePeriodSeconds };
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', ...how };
    try {
      await this.#call('DELETE', objectPath(kind, ref), options, body);
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  async *watch<T extends KubeObject>(kind: Kind<T>, options: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    const path = collectionPath(kind, options.namespace);
    const stop = new AbortController();
    const onAbort = () => stop.abort(options.signal?.reason);
    if (options.signal?.aborted) onAbort();
    options.signal?.addEventListener('abort', onAbort);
    const watchdog = new Watchdog(this.#timers, options.silenceMs, () => {
      const message = `watching ${path}: nothing was heard for ${options.silenceMs} ms`;
      stop.abort(new KubernetesError(message, { status: 0, reason: 'SilentWatch' }));
    });
    try {
      const stream = await this.#transport.stream(watchCall(path, options, stop.signal));
      yield* readWatchEvents<T>(`watching ${path}`, heard(stream, watchdog));
    } finally {
      watchdog.stop();
      options.signal?.removeEventListener('abort', onAbort);
      // A caller that stops reading ends the watch.
      stop.abort(new Error('the watch has ended'));
    }
  }

  openApi(apiVersion: string, options: CallOptions = {}): Promise<unknown> {
    return this.#call('GET', `/openapi/v3/apis/${apiVersion}`, options);
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  #call<T>(
    method: Call['method'],
    path: string,
    { signal, deadlineMs = DEADLINE_MS }: Pick<CallOptions, 'signal' | 'deadlineMs'>,
    body?: object,
    contentType?: string,
  ): Promise<T> {
    return this.#transport.json({ method, path, body, contentType, signal, deadlineMs }) as Promise<T>;
  }
}

function watchCall(path: string, options: WatchOptions, signal: AbortSignal): Call {
  const { labelSelector, fieldSelector, resourceVersion, lifetimeMs } = options;
  const query = {
    watch: true,
    allowWatchBookmarks: true,
    resourceVersion,
    timeoutSeconds: Math.max(1, Math.ceil(lifetimeMs / 1000)),
    labelSelector,
    fieldSelector,
  };
  return { method: 'GET', path: withQuery(path, query), signal, deadlineMs: DEADLINE_MS };
}

async function* heard(chunks: AsyncIterable<Buffer>, watchdog: Watchdog): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    watchdog.heard();
    yield chunk;
  }
}
