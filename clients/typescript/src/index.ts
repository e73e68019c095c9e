export {
  type ConnectionOptions,
  type Credentials,
  createApi,
  dataOf,
  type PlatenApi,
  signIn,
} from './api.ts';
export type { Backoff } from './backoff.ts';
export type {
  Batches,
  BatchFilter,
  BatchInput,
  BatchItemInput,
  BatchStanding,
  BatchWaitOptions,
} from './batches.ts';
export type { AttemptBounds, Fetch } from './bounded-fetch.ts';
export type { CallOptions, RenderCallOptions } from './call-options.ts';
export { type JobFilter, PlatenClient, type PlatenClientOptions } from './client.ts';
export type { DownloadOptions, DownloadProgress } from './download.ts';
export { type ErrorCode, PlatenApiError, PlatenConnectionError, PlatenJobError } from './errors.ts';
export type {
  AcceptedBatch,
  AcceptedJob,
  Account,
  ApiKey,
  Batch,
  BatchItem,
  BatchProgress,
  BatchSummary,
  DownloadUrl,
  JobRecord,
  NewApiKey,
  paths,
  RenderOptions,
  RenderReport,
  RequestLogEntry,
  Template,
  TemplateVersion,
  UsageSummary,
} from './generated/schema.ts';
export type { RenderedPdf, RenderInput } from './render.ts';
export type { RetryOptions } from './retrying-fetch.ts';
