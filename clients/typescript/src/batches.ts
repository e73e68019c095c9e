import { dataOf, type PlatenApi, type Stream } from './api.ts';
import { type Backoff, pauseMs, sleep } from './backoff.ts';
import { type AttemptBounds, SilenceError } from './bounded-fetch.ts';
import { about, type CallOptions, named, type RenderCallOptions } from './call-options.ts';
import type { Download, DownloadOptions } from './download.ts';
import { PlatenApiError } from './errors.ts';
import { serverEvents } from './event-source.ts';
import type {
  AcceptedBatch,
  Batch,
  BatchItem,
  BatchProgress,
  BatchRequest,
  BatchSummary,
  paths,
} from './generated/schema.ts';
import type { RenderInput } from './render.ts';

/** One document of a batch. Its id is yours, unique within the batch. */
export type BatchItemInput = RenderInput & { readonly id: string };

export type BatchInput = Omit<BatchRequest, 'items'> & { readonly items: readonly BatchItemInput[] };

/** How a batch stands at a moment. */
export interface BatchStanding {
  readonly jobId: string;
  readonly status: BatchSummary['status'];
  readonly progress: BatchProgress;
  readonly estimatedCompletionTime: string | null;
}

export interface BatchWaitOptions extends CallOptions {
  /** Told whenever items have ended. */
  readonly onProgress?: (standing: BatchStanding) => void;
}

/** Which batches to list, and in which order. */
export type BatchFilter = Omit<
  NonNullable<paths['/v1/pdf/batch']['get']['parameters']['query']>,
  'limit' | 'offset'
>;

export interface BatchesDeps {
  readonly api: PlatenApi;
  readonly stream: Stream;
  readonly download: Download;
  readonly polling: Backoff;
}

/**
 * The service says something every 15 seconds, and how things stand at once. Where there is neither an answer nor an event
 * something in between holds them back.
 */
const EVENTS_BOUNDS: AttemptBounds = { answerTimeoutMs: 35_000, silenceTimeoutMs: 35_000 };
const PAGE_SIZE = 100;
const ITEMS_PAGE_SIZE = 1000;

/** Many documents in one request. */
export class Batches {
  readonly #deps: BatchesDeps;

  constructor(deps: BatchesDeps) {
    this.#deps = deps;
  }

  /**
   * Orders a batch: all of its items or none. The answer comes before any of them is rendered; `wait` follows it.
   *
   * @throws PlatenApiError; for a faulty request with all of its faults in `messages`.
   */
  async create(input: BatchInput, options: RenderCallOptions = {}): Promise<AcceptedBatch> {
    const body = { ...input, items: [...input.items] };
    return await dataOf(this.#deps.api.POST('/v1/pdf/batch', { ...named(options), body }));
  }

  /** A batch and its first thousand items; `items` has all of them. @throws PlatenApiError with status 404. */
  async get(
    batchId: string,
    { limit, offset, ...options }: CallOptions & { readonly limit?: number; readonly offset?: number } = {},
  ): Promise<Batch> {
    const { params, ...rest } = about(batchId, options);
    const query = { ...(limit !== undefined && { limit }), ...(offset !== undefined && { offset }) };
    return await dataOf(this.#deps.api.GET('/v1/pdf/batch/{id}', { params: { ...params, query }, ...rest }));
  }

  /** All items of a batch in order; pages are fetched as they are needed. */
  async *items(batchId: string, options: CallOptions = {}): AsyncGenerator<BatchItem, void, undefined> {
    for (let offset = 0; ; offset += ITEMS_PAGE_SIZE) {
      const { items } = await this.get(batchId, { ...options, limit: ITEMS_PAGE_SIZE, offset });
      yield* items;
      if (items.length < ITEMS_PAGE_SIZE) return;
    }
  }

  /** The account's batches, one after the other; pages are fetched as they are needed. */
  async *list(
    filter: BatchFilter = {},
    options: CallOptions = {},
  ): AsyncGenerator<BatchSummary, void, undefined> {
    const seen = new Set<string>();
    for (let offset = 0; ; offset += PAGE_SIZE) {
      const query = { ...filter, limit: PAGE_SIZE, offset };
      const { batches } = await dataOf(
        this.#deps.api.GET('/v1/pdf/batch', { params: { query }, ...options }),
      );
      for (const batch of batches) {
        // Batches that are new since the last page have pushed others onto this one.
        if (!seen.has(batch.jobId)) yield batch;
        seen.add(batch.jobId);
      }
      if (batches.length < PAGE_SIZE) return;
    }
  }

  /**
   * Cancels what has not begun; what runs is left to end. Cancelling it again changes nothing.
   *
   * @throws PlatenApiError with the code JOB_ENDED when it has ended otherwise.
   */
  async cancel(batchId: string, options: CallOptions = {}): Promise<Batch> {
    try {
      return await dataOf(this.#deps.api.DELETE('/v1/pdf/batch/{id}', about(batchId, options)));
    } catch (error) {
      if (!(error instanceof PlatenApiError && error.code === 'JOB_ENDED')) throw error;
      // Perhaps by this very call, when the answer to its first attempt was lost.
      const batch = await this.get(batchId, options);
      if (batch.status !== 'cancelled') throw error;
      return batch;
    }
  }

  /**
   * Waits until every item of a batch has ended, whatever came of each. Follows the service's events, from where a broken
   * connection had got to; where no events can be had, it looks again and again.
   *
   * @throws PlatenApiError with status 404 when the account has no such batch; PlatenConnectionError.
   */
  async wait(batchId: string, options: BatchWaitOptions = {}): Promise<BatchSummary> {
    const following: Following = { lastEventId: undefined, usesEvents: true, lastReported: '' };
    for (let checks = 1; ; checks += 1) {
      const before = following.lastEventId;
      if (following.usesEvents) await this.#follow(batchId, following, options);
      if (following.lastEventId !== before) checks = 1;
      const { items: _, ...batch } = await this.get(batchId, { ...options, limit: 0 });
      report(batch, following, options);
      if (batch.finishedAt !== null) return batch;
      await sleep(pauseMs(this.#deps.polling, checks), options.signal);
    }
  }

  /**
   * Downloads the PDFs of all completed items as a zip.
   *
   * @param target a path, where the file appears once it is whole; or a stream, which is closed at the end.
   * @returns its size in bytes.
   * @throws PlatenApiError with status 404 when no item has completed, 410 when the PDFs are kept no longer.
   */
  download(
    batchId: string,
    target: string | WritableStream<Uint8Array>,
    options: DownloadOptions = {},
  ): Promise<number> {
    return this.#deps.download(`/v1/pdf/batch/${encodeURIComponent(batchId)}/zip`, target, options);
  }

  /**
   * Downloads the PDF of one item that has completed; otherwise as `download`.
   *
   * @throws PlatenApiError with status 404 when it has not completed, 410 when its PDF is kept no longer.
   */
  downloadItem(
    batchId: string,
    itemId: string,
    target: string | WritableStream<Uint8Array>,
    options: DownloadOptions = {},
  ): Promise<number> {
    const path = `/v1/pdf/batch/${encodeURIComponent(batchId)}/${encodeURIComponent(itemId)}`;
    return this.#deps.download(path, target, options);
  }

  /** Follows the events of a batch over one connection, for as long as that lasts. Whatever ends it, `get` tells more. */
  async #follow(batchId: string, following: Following, options: BatchWaitOptions): Promise<void> {
    const path = `/v1/pdf/batch/${encodeURIComponent(batchId)}/events`;
    const { lastEventId } = following;
    const connection = new AbortController();
    const signals = [connection.signal, ...(options.signal === undefined ? [] : [options.signal])];
    const headers: Record<string, string> = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId };
    try {
      const response = await this.#deps.stream(path, headers, AbortSignal.any(signals), EVENTS_BOUNDS);
      if (!isEventStream(response)) {
        following.usesEvents = response.status === 429 || response.status >= 500;
        return;
      }
      for await (const event of serverEvents(response.body!)) {
        following.lastEventId = event.id;
        report(JSON.parse(event.data) as BatchStanding, following, options);
        if (event.name === 'end') return;
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      if (error instanceof SilenceError && following.lastEventId === undefined) following.usesEvents = false;
    } finally {
      connection.abort();
    }
  }
}

interface Following {
  lastEventId: string | undefined;
  /** Whether events can be had, as far as is known. */
  usesEvents: boolean;
  /** What `onProgress` was told last. */
  lastReported: string;
}

function isEventStream({ ok, headers, body }: Response): boolean {
  return ok && body !== null && /^text\/event-stream\b/.test(headers.get('content-type') ?? '');
}

/** Tells what has changed. */
function report(standing: BatchStanding, following: Following, { onProgress }: BatchWaitOptions): void {
  const { jobId, status, progress, estimatedCompletionTime } = standing;
  const reported = `${status} ${JSON.stringify(progress)}`;
  if (reported === following.lastReported) return;
  following.lastReported = reported;
  onProgress?.({ jobId, status, progress, estimatedCompletionTime });
}
