export {
  type ConnectionOptions,
  type Credentials,
  createApi,
  dataOf,
  type PlatenApi,
  signIn,
} from './api.ts';
export type { Backoff } from './backoff.ts';
export type { BatchStanding, BatchWaitOptions } from './batch-end.ts';
export type {
  Batches,
  BatchFilter,
  BatchInput,
  BatchItemInput,
  BatchManifest,
  ManifestItem,
} from './batches.ts';
export type { AttemptBounds, Fetch } from './bounded-fetch.ts';
export type {
  AbortOptions,
  CallOptions,
  RenderCallOptions,
  SubmitOptions,
  WaitOptions,
} from './call-options.ts';
export { type Callback, type CallbackOptions, type HeadersLike, verifyCallback } from './callbacks.ts';
export { type JobFilter, PlatenClient, type PlatenClientOptions } from './client.ts';
export type { DownloadOptions, DownloadProgress } from './download.ts';
export {
  AuthenticationError,
  BadRequestError,
  ConflictError,
  type ErrorCode,
  GoneError,
  NotFoundError,
  PermissionDeniedError,
  PlatenAbortError,
  PlatenApiError,
  PlatenConnectionError,
  PlatenDeadlineError,
  PlatenError,
  PlatenJobError,
  PlatenSignatureError,
  RateLimitError,
  ServerError,
  TooLargeError,
} from './errors.ts';
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
  PdfValidation,
  paths,
  RenderOptions,
  RenderReport,
  RequestLogEntry,
  Template,
  TemplateVersion,
  UsageSummary,
} from './generated/schema.ts';
export type { AsyncRenderInput, RenderedPdf, RenderInput } from './render.ts';
export type { RetryOptions } from './retrying-fetch.ts';
export type { ConversionInput, FillInput, FlattenInput, SentPdf } from './sent-pdf.ts';
export type { DownloadTarget, NodeWritable } from './target.ts';
