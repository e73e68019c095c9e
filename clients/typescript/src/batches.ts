import { dataOf, type PlatenApi, type Stream } from './api.ts';
import type { Backoff } from './backoff.ts';
import { type BatchWaitOptions, endOfBatch } from './batch-end.ts';
import { within } from './call.ts';
import { type AbortOptions, about, type CallOptions, named, type SubmitOptions } from './call-options.ts';
import type { DownloadOptions, Downloads } from './download.ts';
import { PlatenApiError } from './errors.ts';
import type {
  AcceptedBatch,
  Batch,
  BatchItem,
  BatchRequest,
  BatchSummary,
  BatchUpload,
  DownloadUrl,
  paths,
} from './generated/schema.ts';
import { type RenderInput, requestOf } from './render.ts';
import type { DownloadTarget } from './target.ts';

/** One document of a batch. Its id is yours, unique within the batch. */
export type BatchItemInput = RenderInput & { readonly id: string };

/** A batch lists its documents, or its `source` is a file whose rows are rendered. */
export type BatchInput = Omit<BatchRequest, 'items' | 'source'> &
  (
    | { readonly items: readonly BatchItemInput[]; readonly source?: undefined }
    | { readonly items?: undefined; readonly source: NonNullable<BatchRequest['source']> }
  );

/** The file of a batch: text, bytes, a `Blob`, or a stream that is sent as it is read. */
export type BatchFile = string | Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array<ArrayBuffer>>;

/** What became of each item of a batch, and under which name its PDF is in the zip. */
export interface BatchManifest {
  readonly jobId: string;
  readonly createdAt: string;
  readonly items: readonly ManifestItem[];
}

export interface ManifestItem {
  readonly itemId: string;
  /** As in the zip. */
  readonly fileName: string;
  readonly status: BatchItem['status'];
  /** Bytes; 0 without a PDF. */
  readonly size: number;
  readonly pages: number;
  /** Hexadecimal; null without a PDF. */
  readonly sha256: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** Which batches to list, and in which order. */
export type BatchFilter = Omit<
  NonNullable<paths['/v1/pdf/batch']['get']['parameters']['query']>,
  'limit' | 'offset'
>;

export interface BatchesDeps {
  readonly api: PlatenApi;
  readonly stream: Stream;
  readonly downloads: Downloads;
  /** Fetches a signed address, with its tries, and without the key: it may lead elsewhere. */
  readonly fetchUrl: (url: string, signal: AbortSignal | undefined) => Promise<Response>;
  readonly polling: Backoff;
}

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
  async create(
    input: BatchInput,
    { idempotencyKey, ...options }: SubmitOptions = {},
  ): Promise<AcceptedBatch> {
    const { items, ...rest } = input;
    const body = { ...rest, ...(items && { items: items.map(requestOf) }) };
    return await within(options, (call) =>
      dataOf(this.#deps.api.POST('/v1/pdf/batch', { ...named(idempotencyKey, call), body })),
    );
  }

  /**
   * Uploads a file whose rows are to be rendered, for `source.upload` of a batch. Sent once: a stream cannot be repeated.
   *
   * @throws PlatenApiError
   */
  async upload(
    file: BatchFile,
    format: NonNullable<BatchRequest['source']>['format'],
    options: CallOptions = {},
  ): Promise<BatchUpload> {
    const type = format === 'csv' ? 'text/csv' : 'application/x-ndjson';
    return await within(options, ({ signal }) =>
      dataOf(
        this.#deps.api.POST('/v1/pdf/batch/uploads', {
          // The type of the body is that of a text, whatever holds it.
          body: file as unknown as string,
          bodySerializer: () => file,
          headers: { 'Content-Type': type },
          ...(typeof file === 'object' && 'getReader' in file && { duplex: 'half' }),
          ...(signal && { signal }),
        }),
      ),
    );
  }

  /** Has the rows after those of the proof rendered. @throws PlatenApiError with status 404 or 409. */
  release(batchId: string, options: CallOptions = {}): Promise<Batch> {
    return this.#direct('release', batchId, options);
  }

  /** Reads no further row, until `resume`. @throws PlatenApiError with status 404 or 409. */
  pause(batchId: string, options: CallOptions = {}): Promise<Batch> {
    return this.#direct('pause', batchId, options);
  }

  /** Goes on where a pause began. @throws PlatenApiError with status 404 or 409. */
  resume(batchId: string, options: CallOptions = {}): Promise<Batch> {
    return this.#direct('resume', batchId, options);
  }

  async #direct(
    order: 'release' | 'pause' | 'resume',
    batchId: string,
    options: CallOptions,
  ): Promise<Batch> {
    return await within(
      options,
      async (call) => await dataOf(this.#deps.api.POST(`/v1/pdf/batch/{id}/${order}`, about(batchId, call))),
      batchId,
    );
  }

  /** A batch and its first thousand items; `items` has all of them. @throws PlatenApiError with status 404. */
  async get(
    batchId: string,
    { limit, offset, ...options }: CallOptions & { readonly limit?: number; readonly offset?: number } = {},
  ): Promise<Batch> {
    const query = { ...(limit !== undefined && { limit }), ...(offset !== undefined && { offset }) };
    return await within(
      options,
      async (call) => {
        const { params, ...rest } = about(batchId, call);
        return await dataOf(
          this.#deps.api.GET('/v1/pdf/batch/{id}', { params: { ...params, query }, ...rest }),
        );
      },
      batchId,
    );
  }

  /** All items of a batch in order; pages are fetched as they are needed. */
  async *items(batchId: string, options: AbortOptions = {}): AsyncGenerator<BatchItem, void, undefined> {
    for (let offset = 0; ; offset += ITEMS_PAGE_SIZE) {
      const { items } = await this.get(batchId, { ...options, limit: ITEMS_PAGE_SIZE, offset });
      yield* items;
      if (items.length < ITEMS_PAGE_SIZE) return;
    }
  }

  /** The account's batches, one after the other; pages are fetched as they are needed. */
  async *list(
    filter: BatchFilter = {},
    options: AbortOptions = {},
  ): AsyncGenerator<BatchSummary, void, undefined> {
    const seen = new Set<string>();
    for (let offset = 0; ; offset += PAGE_SIZE) {
      const query = { ...filter, limit: PAGE_SIZE, offset };
      const { batches } = await within(options, ({ signal }) =>
        dataOf(this.#deps.api.GET('/v1/pdf/batch', { params: { query }, ...(signal && { signal }) })),
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
    return await within(
      options,
      async (call) => {
        try {
          return await dataOf(this.#deps.api.DELETE('/v1/pdf/batch/{id}', about(batchId, call)));
        } catch (error) {
          if (!(error instanceof PlatenApiError && error.code === 'JOB_ENDED')) throw error;
          // Perhaps by this very call, when the answer to its first attempt was lost.
          const batch = await this.get(batchId, call);
          if (batch.status !== 'cancelled') throw error;
          return batch;
        }
      },
      batchId,
    );
  }

  /**
   * Waits until every item of a batch has ended, whatever came of each. Follows the service's events, from where a broken
   * connection had got to; where no events can be had, it looks again and again.
   *
   * @throws NotFoundError when the account has no such batch; PlatenConnectionError.
   */
  async wait(batchId: string, options: BatchWaitOptions = {}): Promise<BatchSummary> {
    return await within(
      options,
      async (call) => {
        call.cancel = (signal) => this.cancel(batchId, { signal });
        const get = async () => {
          const { items: _, ...batch } = await this.get(batchId, { signal: call.signal, limit: 0 });
          return batch;
        };
        return await endOfBatch(batchId, get, this.#deps, { ...options, signal: call.signal });
      },
      batchId,
    );
  }

  /**
   * Downloads the PDFs of all completed items as a zip.
   *
   * @returns its size in bytes.
   * @throws NotFoundError when no item has completed, GoneError when the PDFs are kept no longer.
   */
  download(batchId: string, target: DownloadTarget, options: DownloadOptions = {}): Promise<number> {
    return this.#deps.downloads.save(fileOf(batchId, 'zip'), target, options);
  }

  /** The zip of `download` as a stream, such as the body of a response. Otherwise as `PlatenClient.stream`. */
  stream(batchId: string, options: DownloadOptions = {}): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    return this.#deps.downloads.open(fileOf(batchId, 'zip'), options);
  }

  /** Downloads all completed items as one PDF, in order, with a bookmark for each; otherwise as `download`. */
  downloadMerged(batchId: string, target: DownloadTarget, options: DownloadOptions = {}): Promise<number> {
    return this.#deps.downloads.save(fileOf(batchId, 'pdf'), target, options);
  }

  /** The PDF of `downloadMerged` as a stream. */
  streamMerged(
    batchId: string,
    options: DownloadOptions = {},
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    return this.#deps.downloads.open(fileOf(batchId, 'pdf'), options);
  }

  /**
   * Downloads the PDF of one item that has completed; otherwise as `download`.
   *
   * @throws NotFoundError when it has not completed, GoneError when its PDF is kept no longer.
   */
  downloadItem(
    batchId: string,
    itemId: string,
    target: DownloadTarget,
    options: DownloadOptions = {},
  ): Promise<number> {
    return this.#deps.downloads.save(fileOf(batchId, encodeURIComponent(itemId)), target, options);
  }

  /** The PDF of one item as a stream. */
  streamItem(
    batchId: string,
    itemId: string,
    options: DownloadOptions = {},
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    return this.#deps.downloads.open(fileOf(batchId, encodeURIComponent(itemId)), options);
  }

  /** An address of an item's PDF for somebody who has no key; it is valid for 15 minutes at most. */
  downloadUrl(batchId: string, itemId: string, options: CallOptions = {}): Promise<DownloadUrl> {
    return within(
      options,
      ({ signal }) =>
        dataOf(
          this.#deps.api.GET('/v1/pdf/batch/{id}/items/{itemId}/download-url', {
            params: { path: { id: batchId, itemId } },
            ...(signal && { signal }),
          }),
        ),
      batchId,
    );
  }

  /**
   * What became of each item, and under which name its PDF is in the zip, with its SHA-256.
   *
   * @throws NotFoundError when the batch has not ended, GoneError when its PDFs are kept no longer.
   */
  manifest(batchId: string, options: CallOptions = {}): Promise<BatchManifest> {
    return within(
      options,
      async (call) => {
        const { url } = await dataOf(
          this.#deps.api.GET('/v1/pdf/batch/{id}/manifest/download-url', about(batchId, call)),
        );
        return (await (await this.#deps.fetchUrl(url, call.signal)).json()) as BatchManifest;
      },
      batchId,
    );
  }
}

function fileOf(batchId: string, name: string) {
  return { path: `/v1/pdf/batch/${encodeURIComponent(batchId)}/${name}`, jobId: batchId };
}
