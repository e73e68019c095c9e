export {
  type ConnectionOptions,
  type Credentials,
  createApi,
  dataOf,
  type PlatenApi,
  signIn,
} from './api.ts';
export type { Backoff } from './backoff.ts';
export {
  type CallOptions,
  type JobFilter,
  PlatenClient,
  type PlatenClientOptions,
  type RenderCallOptions,
} from './client.ts';
export { type ErrorCode, PlatenApiError, PlatenConnectionError, PlatenJobError } from './errors.ts';
export type {
  AcceptedJob,
  Account,
  ApiKey,
  DownloadUrl,
  JobRecord,
  NewApiKey,
  paths,
  RenderOptions,
  RequestLogEntry,
  Template,
  TemplateVersion,
  UsageSummary,
} from './generated/schema.ts';
export type { RenderedPdf, RenderInput } from './render.ts';
export type { Fetch, RetryOptions } from './retrying-fetch.ts';
