import { apiOf, type ConnectionOptions, dataOf, type PlatenApi, streamer } from './api.ts';
import { type Backoff, pauseMs, sleep } from './backoff.ts';
import { Batches } from './batches.ts';
import { type Call, within } from './call.ts';
import {
  type AbortOptions,
  about,
  type CallOptions,
  named,
  type RenderCallOptions,
  type SubmitOptions,
  type WaitOptions,
} from './call-options.ts';
import { environmentOf, openConnection } from './connection.ts';
import { type DownloadOptions, Downloads } from './download.ts';
import { apiError, failedWhileHeld, jobError, PlatenApiError } from './errors.ts';
import type {
  AcceptedJob,
  DownloadUrl,
  JobRecord,
  PdfValidation,
  paths,
  RenderReport,
} from './generated/schema.ts';
import {
  type AsyncRenderInput,
  type RenderedPdf,
  type RenderInput,
  renderedPdf,
  requestOf,
} from './render.ts';
import { DEFAULT_RETRY, retryingFetch } from './retrying-fetch.ts';
import {
  type ConversionInput,
  type FillInput,
  type FlattenInput,
  type SentPdf,
  sentPdf,
} from './sent-pdf.ts';
import type { DownloadTarget } from './target.ts';

export interface PlatenClientOptions extends ConnectionOptions {
  /** Otherwise PLATEN_API_KEY of the environment. */
  readonly apiKey?: string | undefined;
  /** The pauses between two looks at a job. */
  readonly polling?: Partial<Backoff> | undefined;
  /** What the service's own headers begin with; `X-Service-` unless its operator has changed it. */
  readonly headerPrefix?: string | undefined;
}

/** Which jobs to list, and in which order. */
export type JobFilter = Omit<
  NonNullable<paths['/v1/pdf/jobs']['get']['parameters']['query']>,
  'limit' | 'offset'
>;

/** The routes that take an order and respond with its PDF, in the same ways; their bodies are of other types. */
type OrderPath = '/v1/pdf' | '/v1/pdf/convert' | '/v1/pdf/fill' | '/v1/pdf/flatten';

const DEFAULT_POLLING: Backoff = { firstMs: 250, longestMs: 5000 };
const PAGE_SIZE = 100;

/** Renders documents, and changes PDFs, with an API key. */
export class PlatenClient {
  /** The typed routes, for what this class has no method for. */
  readonly api: PlatenApi;
  /** Many documents in one request. */
  readonly batches: Batches;
  readonly #polling: Backoff;
  readonly #headerPrefix: string;
  readonly #downloads: Downloads;
  readonly #baseUrl: string;

  /** @throws TypeError without a key, or without an address of HTTP. */
  constructor(options: PlatenClientOptions = {}) {
    const connection = openConnection(options.baseUrl, options.fetch);
    const apiKey = (options.apiKey ?? environmentOf('PLATEN_API_KEY') ?? '').trim();
    if (apiKey === '') throw new TypeError('No API key: give apiKey, or set PLATEN_API_KEY.');
    const retry = { ...DEFAULT_RETRY, ...options.retry };
    this.#baseUrl = connection.baseUrl;
    this.api = apiOf(connection, { apiKey, retry });
    this.#polling = { ...DEFAULT_POLLING, ...options.polling };
    this.#headerPrefix = options.headerPrefix ?? 'X-Service-';
    const stream = streamer(connection, apiKey);
    this.#downloads = new Downloads(stream, retry, connection);
    const retrying = retryingFetch(connection, retry);
    this.batches = new Batches({
      api: this.api,
      stream,
      downloads: this.#downloads,
      polling: this.#polling,
      async fetchUrl(url, signal) {
        const response = await retrying(new Request(url, signal && { signal }));
        if (!response.ok) throw apiError(response, await response.json().catch(() => undefined));
        return response;
      },
    });
  }

  /**
   * Renders a document, however long it takes: a render that the service goes on with in the background is followed to
   * its end.
   *
   * @throws PlatenJobError when the document cannot be rendered, or its job is cancelled; PlatenApiError when the request
   * is refused; PlatenConnectionError; PlatenAbortError and PlatenDeadlineError, which name the job once the service has
   * named it: from the start with `cancelOnAbort`.
   */
  render(input: RenderInput, options: RenderCallOptions = {}): Promise<RenderedPdf> {
    return this.#order('/v1/pdf', requestOf(input), options);
  }

  /** Makes another PDF of one that exists, with attachments, a seal or the like. @throws as `render`. */
  async convert(input: ConversionInput, options: RenderCallOptions = {}): Promise<RenderedPdf> {
    return await this.#order('/v1/pdf/convert', sentPdf(input), options);
  }

  /** Fills in the fields of a PDF. @throws as `render`. */
  async fill(input: FillInput, options: RenderCallOptions = {}): Promise<RenderedPdf> {
    return await this.#order('/v1/pdf/fill', sentPdf(input), options);
  }

  /** Makes the fields of a PDF a part of its pages. @throws as `render`. */
  async flatten(input: FlattenInput, options: RenderCallOptions = {}): Promise<RenderedPdf> {
    return await this.#order('/v1/pdf/flatten', sentPdf(input), options);
  }

  /** What a PDF claims, and whether it holds. A PDF that cannot be read is no error: its check `file` has failed. */
  async validate(input: SentPdf, options: CallOptions = {}): Promise<PdfValidation> {
    const body = sentPdf(input);
    return await within(options, ({ signal }) =>
      dataOf(this.api.POST('/v1/pdf/validate', { body, ...(signal && { signal }) })),
    );
  }

  #order(path: OrderPath, body: object, options: RenderCallOptions): Promise<RenderedPdf> {
    return within(options, (call) =>
      options.cancelOnAbort
        ? this.#orderToCancel(path, body, options, call)
        : this.#orderAndWait(path, body, options, call),
    );
  }

  async #orderAndWait(
    path: OrderPath,
    order: object,
    { idempotencyKey }: RenderCallOptions,
    call: Call,
  ): Promise<RenderedPdf> {
    const body = { ...order, output: 'binary', executionMode: 'sync' } as const;
    const { data, error, response } = await this.api.POST(path as '/v1/pdf', {
      ...named(idempotencyKey, call),
      body,
      parseAs: 'arrayBuffer',
    });
    if (!response.ok) throw failedWhileHeld(apiError(response, error));
    const bytes = new Uint8Array(data as ArrayBuffer);
    if (response.status === 200) return renderedPdf(bytes, response.headers, this.#headerPrefix);
    call.jobId = (JSON.parse(new TextDecoder().decode(bytes)) as AcceptedJob).jobId;
    return await this.#result(call.jobId, call);
  }

  /** In the background, where the job has a name before it is waited for. */
  async #orderToCancel(
    path: OrderPath,
    order: object,
    { idempotencyKey = crypto.randomUUID() }: RenderCallOptions,
    call: Call,
  ): Promise<RenderedPdf> {
    const submit = async (signal: AbortSignal | undefined) => {
      call.jobId = (await this.#submit(path, order, { idempotencyKey, signal })).jobId;
      return call.jobId;
    };
    // Where no answer has come yet, the same request again says which job it is.
    call.cancel = async (signal) => this.cancel(call.jobId ?? (await submit(signal)), { signal });
    return await this.#result(await submit(call.signal), call);
  }

  /** Orders a render in the background; `result` brings its PDF. */
  renderAsync(input: AsyncRenderInput, options: SubmitOptions = {}): Promise<AcceptedJob> {
    return this.#submit('/v1/pdf', requestOf(input), options);
  }

  #submit(
    path: OrderPath,
    order: object,
    { idempotencyKey, ...options }: SubmitOptions,
  ): Promise<AcceptedJob> {
    const body = { ...order, executionMode: 'async' } as const;
    return within(options, async (call) => {
      const sent = this.api.POST(path as '/v1/pdf', { ...named(idempotencyKey, call), body });
      return (await dataOf(sent)) as AcceptedJob;
    });
  }

  /**
   * Waits until a job has ended, and fetches its PDF.
   *
   * @throws PlatenJobError when it has failed or was cancelled; NotFoundError when its PDF is kept no longer.
   */
  result(jobId: string, options: WaitOptions = {}): Promise<RenderedPdf> {
    return this.#following(jobId, options, (call) => this.#result(jobId, call));
  }

  async #result(jobId: string, call: Call): Promise<RenderedPdf> {
    const { pages, processingTimeMs, outputExpiresAt } = await this.#waitFor(jobId, call);
    const data = await dataOf(
      this.api.GET('/v1/pdf/jobs/{id}/file', { ...about(jobId, call), parseAs: 'arrayBuffer' }),
    );
    const expiresAt = outputExpiresAt === null ? undefined : new Date(outputExpiresAt);
    return { jobId, bytes: new Uint8Array(data), pages, processingTimeMs, expiresAt };
  }

  /**
   * Downloads the PDF of a job that has completed, without holding it in memory.
   *
   * @returns its size in bytes.
   * @throws NotFoundError when it has not completed, or its PDF is kept no longer.
   */
  download(jobId: string, target: DownloadTarget, options: DownloadOptions = {}): Promise<number> {
    return this.#downloads.save(fileOf(jobId), target, options);
  }

  /**
   * The PDF of a job that has completed as a stream, such as the body of a `Response`. A connection that breaks off is
   * resumed without the reader's notice.
   *
   * @returns once the first bytes are on their way, so that an error can still become a response of yours.
   * @throws as `download`; what breaks later is an error of the stream.
   */
  stream(jobId: string, options: DownloadOptions = {}): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    return this.#downloads.open(fileOf(jobId), options);
  }

  /** Waits until a job has completed. @throws PlatenJobError when it has failed or was cancelled. */
  waitFor(jobId: string, options: WaitOptions = {}): Promise<JobRecord> {
    return this.#following(jobId, options, (call) => this.#waitFor(jobId, call));
  }

  async #waitFor(jobId: string, call: Call): Promise<JobRecord> {
    for (let checks = 1; ; checks += 1) {
      const job = await this.job(jobId, call);
      if (job.status === 'completed') return job;
      if (job.status === 'failed' || job.status === 'cancelled') throw jobError(job, this.#baseUrl);
      await sleep(pauseMs(this.#polling, checks), call.signal);
    }
  }

  #following<T>(jobId: string, options: WaitOptions, work: (call: Call) => Promise<T>): Promise<T> {
    return within(
      options,
      (call) => {
        call.cancel = (signal) => this.cancel(jobId, { signal });
        return work(call);
      },
      jobId,
    );
  }

  /** The status record of a job. @throws NotFoundError when the account has no such job. */
  job(jobId: string, options: CallOptions = {}): Promise<JobRecord> {
    return within(options, (call) => dataOf(this.api.GET('/v1/pdf/jobs/{id}', about(jobId, call))), jobId);
  }

  /**
   * Cancels a job; cancelling it again changes nothing.
   *
   * @throws ConflictError with the code JOB_ENDED when it has completed or failed.
   */
  cancel(jobId: string, options: CallOptions = {}): Promise<JobRecord> {
    return within(
      options,
      async (call) => {
        try {
          return await dataOf(this.api.DELETE('/v1/pdf/jobs/{id}', about(jobId, call)));
        } catch (error) {
          if (!(error instanceof PlatenApiError && error.code === 'JOB_ENDED')) throw error;
          // Perhaps by this very call, when the answer to its first attempt was lost.
          const job = await this.job(jobId, call);
          if (job.status !== 'cancelled') throw error;
          return job;
        }
      },
      jobId,
    );
  }

  /** The account's jobs, one after the other; pages are fetched as they are needed. */
  async *jobs(
    filter: JobFilter = {},
    options: AbortOptions = {},
  ): AsyncGenerator<JobRecord, void, undefined> {
    const seen = new Set<string>();
    for (let offset = 0; ; offset += PAGE_SIZE) {
      const query = { ...filter, limit: PAGE_SIZE, offset };
      const { jobs } = await within(options, ({ signal }) =>
        dataOf(this.api.GET('/v1/pdf/jobs', { params: { query }, ...(signal && { signal }) })),
      );
      for (const job of jobs) {
        // Jobs that are new since the last page have pushed others onto this one.
        if (!seen.has(job.jobId)) yield job;
        seen.add(job.jobId);
      }
      if (jobs.length < PAGE_SIZE) return;
    }
  }

  /** What was found out about a render that was asked for with `report`; of one that has failed, too. */
  report(jobId: string, options: CallOptions = {}): Promise<RenderReport> {
    return within(
      options,
      (call) => dataOf(this.api.GET('/v1/pdf/jobs/{id}/report', about(jobId, call))),
      jobId,
    );
  }

  /** An address of the job's PDF for somebody who has no key; it is valid for 15 minutes at most. */
  downloadUrl(jobId: string, options: CallOptions = {}): Promise<DownloadUrl> {
    return within(
      options,
      (call) => dataOf(this.api.GET('/v1/pdf/jobs/{id}/download-url', about(jobId, call))),
      jobId,
    );
  }
}

function fileOf(jobId: string) {
  return { path: `/v1/pdf/jobs/${encodeURIComponent(jobId)}/file`, jobId };
}
