import { type ConnectionOptions, createApi, dataOf, type PlatenApi, streamer } from './api.ts';
import { type Backoff, pauseMs, sleep } from './backoff.ts';
import { Batches } from './batches.ts';
import { about, type CallOptions, named, type RenderCallOptions } from './call-options.ts';
import { type Download, type DownloadOptions, downloader } from './download.ts';
import { PlatenApiError, PlatenJobError } from './errors.ts';
import type { AcceptedJob, DownloadUrl, JobRecord, paths, RenderReport } from './generated/schema.ts';
import { type RenderedPdf, type RenderInput, renderedPdf } from './render.ts';
import { DEFAULT_RETRY } from './retrying-fetch.ts';

export interface PlatenClientOptions extends ConnectionOptions {
  readonly apiKey: string;
  /** The pauses between two looks at a job. */
  readonly polling?: Partial<Backoff>;
  /** What the service's own headers begin with; `X-Service-` unless its operator has changed it. */
  readonly headerPrefix?: string;
}

/** Which jobs to list, and in which order. */
export type JobFilter = Omit<
  NonNullable<paths['/v1/pdf/jobs']['get']['parameters']['query']>,
  'limit' | 'offset'
>;

const DEFAULT_POLLING: Backoff = { firstMs: 250, longestMs: 5000 };
const PAGE_SIZE = 100;

/** Renders documents with an API key. */
export class PlatenClient {
  /** The typed routes, for what this class has no method for. */
  readonly api: PlatenApi;
  /** Many documents in one request. */
  readonly batches: Batches;
  readonly #polling: Backoff;
  readonly #headerPrefix: string;
  readonly #download: Download;

  constructor(options: PlatenClientOptions) {
    this.api = createApi(options);
    this.#polling = { ...DEFAULT_POLLING, ...options.polling };
    this.#headerPrefix = options.headerPrefix ?? 'X-Service-';
    const stream = streamer(options);
    this.#download = downloader(stream, { ...DEFAULT_RETRY, ...options.retry });
    this.batches = new Batches({
      api: this.api,
      stream,
      download: this.#download,
      polling: this.#polling,
    });
  }

  /**
   * Renders a document, however long it takes: a render that the service goes on with in the background is followed to
   * its end.
   *
   * @throws PlatenApiError when the request is refused or the render fails while the service waits for it;
   * PlatenJobError when it fails or is cancelled later; PlatenConnectionError.
   */
  async render(input: RenderInput, options: RenderCallOptions = {}): Promise<RenderedPdf> {
    const body = { ...input, output: 'binary', executionMode: 'sync' } as const;
    const { data, error, response } = await this.api.POST('/v1/pdf', {
      ...named(options),
      body,
      parseAs: 'arrayBuffer',
    });
    if (!response.ok) throw new PlatenApiError(response, error);
    const bytes = new Uint8Array(data as ArrayBuffer);
    if (response.status === 200) return renderedPdf(bytes, response.headers, this.#headerPrefix);
    const { jobId } = JSON.parse(new TextDecoder().decode(bytes)) as AcceptedJob;
    return this.result(jobId, options);
  }

  /** Orders a render in the background; `result` brings its PDF. */
  async renderAsync(input: RenderInput, options: RenderCallOptions = {}): Promise<AcceptedJob> {
    const body = { ...input, executionMode: 'async' } as const;
    return (await dataOf(this.api.POST('/v1/pdf', { ...named(options), body }))) as AcceptedJob;
  }

  /**
   * Waits until a job has ended, and fetches its PDF.
   *
   * @throws PlatenJobError when it has failed or was cancelled; PlatenApiError with status 404 when its PDF is kept no
   * longer.
   */
  async result(jobId: string, options: CallOptions = {}): Promise<RenderedPdf> {
    const { pages, processingTimeMs, outputExpiresAt } = await this.waitFor(jobId, options);
    const data = await dataOf(
      this.api.GET('/v1/pdf/jobs/{id}/file', { ...about(jobId, options), parseAs: 'arrayBuffer' }),
    );
    const expiresAt = outputExpiresAt === null ? undefined : new Date(outputExpiresAt);
    return { jobId, bytes: new Uint8Array(data), pages, processingTimeMs, expiresAt };
  }

  /**
   * Downloads the PDF of a job that has completed, without holding it in memory.
   *
   * @param target a path, where the file appears once it is whole; or a stream, which is closed at the end.
   * @returns its size in bytes.
   * @throws PlatenApiError with status 404 when it has not completed, or its PDF is kept no longer.
   */
  download(
    jobId: string,
    target: string | WritableStream<Uint8Array>,
    options: DownloadOptions = {},
  ): Promise<number> {
    return this.#download(`/v1/pdf/jobs/${encodeURIComponent(jobId)}/file`, target, options);
  }

  /** Waits until a job has completed. @throws PlatenJobError when it has failed or was cancelled. */
  async waitFor(jobId: string, options: CallOptions = {}): Promise<JobRecord> {
    for (let checks = 1; ; checks += 1) {
      const job = await this.job(jobId, options);
      if (job.status === 'completed') return job;
      if (job.status === 'failed' || job.status === 'cancelled') throw new PlatenJobError(job);
      await sleep(pauseMs(this.#polling, checks), options.signal);
    }
  }

  /** The status record of a job. @throws PlatenApiError with status 404 when the account has no such job. */
  job(jobId: string, options: CallOptions = {}): Promise<JobRecord> {
    return dataOf(this.api.GET('/v1/pdf/jobs/{id}', about(jobId, options)));
  }

  /**
   * Cancels a job; cancelling it again changes nothing.
   *
   * @throws PlatenApiError with the code JOB_ENDED when it has completed or failed.
   */
  async cancel(jobId: string, options: CallOptions = {}): Promise<JobRecord> {
    try {
      return await dataOf(this.api.DELETE('/v1/pdf/jobs/{id}', about(jobId, options)));
    } catch (error) {
      if (!(error instanceof PlatenApiError && error.code === 'JOB_ENDED')) throw error;
      // Perhaps by this very call, when the answer to its first attempt was lost.
      const job = await this.job(jobId, options);
      if (job.status !== 'cancelled') throw error;
      return job;
    }
  }

  /** The account's jobs, one after the other; pages are fetched as they are needed. */
  async *jobs(filter: JobFilter = {}, options: CallOptions = {}): AsyncGenerator<JobRecord, void, undefined> {
    const seen = new Set<string>();
    for (let offset = 0; ; offset += PAGE_SIZE) {
      const query = { ...filter, limit: PAGE_SIZE, offset };
      const { jobs } = await dataOf(this.api.GET('/v1/pdf/jobs', { params: { query }, ...options }));
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
    return dataOf(this.api.GET('/v1/pdf/jobs/{id}/report', about(jobId, options)));
  }

  /** An address of the job's PDF for somebody who has no key; it is valid for 15 minutes at most. */
  downloadUrl(jobId: string, options: CallOptions = {}): Promise<DownloadUrl> {
    return dataOf(this.api.GET('/v1/pdf/jobs/{id}/download-url', about(jobId, options)));
  }
}
