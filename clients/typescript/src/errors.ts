import { REMEDIES } from './generated/remedies.ts';
import type { Error as ErrorBody, JobRecord } from './generated/schema.ts';

/** The code of an error, as docs/errors.md lists them. */
export type ErrorCode = ErrorBody['code'];

/** Characters of an answer that did not come from Platen itself. */
const MOST_SHOWN = 500;
/** Where the documentation has a heading for each code. */
const ERRORS_PAGE = '/docs/errors';

interface Details {
  readonly code?: string | undefined;
  readonly status?: number | undefined;
  readonly requestId?: string | undefined;
  readonly jobId?: string | undefined;
  readonly remedy?: string | undefined;
  readonly docsUrl?: string | undefined;
  readonly cause?: unknown;
}

/** Whatever this package fails with. What is not known is undefined. */
export class PlatenError extends Error {
  /** As docs/errors.md lists them; undefined when the answer did not come from Platen itself. */
  readonly code: string | undefined;
  /** HTTP status of the answer. */
  readonly status: number | undefined;
  /** Names the request in the service's log. */
  readonly requestId: string | undefined;
  /** The job, or the batch, that the call was about. */
  jobId: string | undefined;
  /** What can be done about it. */
  readonly remedy: string | undefined;
  /** Where more is said of it. */
  readonly docsUrl: string | undefined;

  constructor(message: string, details: Details = {}) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined);
    this.name = new.target.name;
    this.code = details.code;
    this.status = details.status;
    this.requestId = details.requestId;
    this.jobId = details.jobId;
    this.remedy = details.remedy;
    this.docsUrl = details.docsUrl;
  }
}

/** The service has answered with an error, and trying again did not help or was of no use. */
export class PlatenApiError extends PlatenError {
  declare readonly status: number;
  /** Undefined when the answer did not come from Platen itself, but from something in between. */
  declare readonly code: ErrorCode | undefined;
  /** Every fault of the request; one entry for most errors. */
  readonly messages: readonly string[];

  constructor(response: Response, body: unknown) {
    const reported = isErrorBody(body) ? body : undefined;
    const text = typeof body === 'string' && body !== '' ? `: ${body.slice(0, MOST_SHOWN)}` : '.';
    const messages = [reported?.message ?? `The service answered ${response.status}${text}`].flat();
    super(messages.join('; '), {
      status: response.status,
      code: reported?.code,
      requestId: reported?.requestId ?? response.headers.get('x-request-id') ?? undefined,
      jobId: reported?.jobId,
      remedy: reported?.remedy,
      docsUrl: reported?.docsUrl,
    });
    this.messages = messages;
  }
}

/** 400: something in the request is not valid. */
export class BadRequestError extends PlatenApiError {}
/** 401: the key or token is missing, wrong or revoked. */
export class AuthenticationError extends PlatenApiError {}
/** 403: the plan, its quota, or the key's list of addresses does not allow it. */
export class PermissionDeniedError extends PlatenApiError {}
/** 404: there is no such thing, or not any more, or it is another account's. */
export class NotFoundError extends PlatenApiError {}
/** 409: an idempotency key that was used with another body, or a job that has ended. */
export class ConflictError extends PlatenApiError {}
/** 410: what is asked for is kept no longer. */
export class GoneError extends PlatenApiError {}
/** 413: more than the plan allows in one request. */
export class TooLargeError extends PlatenApiError {}
/** 429, for longer than the client goes on trying. */
export class RateLimitError extends PlatenApiError {}
/** 5xx, for longer than the client goes on trying. */
export class ServerError extends PlatenApiError {}

const BY_STATUS: Readonly<Record<number, typeof PlatenApiError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  410: GoneError,
  413: TooLargeError,
  429: RateLimitError,
};

/** The error of a response, by its status. */
export function apiError(response: Response, body: unknown): PlatenApiError {
  const { status } = response;
  const Kind = BY_STATUS[status] ?? (status >= 500 ? ServerError : PlatenApiError);
  return new Kind(response, body);
}

/** A document could not be rendered, or its job was cancelled. Trying again is of no use: the service has done so. */
export class PlatenJobError extends PlatenError {
  declare readonly jobId: string;
  /** A code as docs/errors.md lists them; CANCELLED for a job that was cancelled. */
  declare readonly code: string;
  /** The job's record; undefined when the render failed while the service held the request. */
  readonly job: JobRecord | undefined;

  constructor(message: string, details: Details, job?: JobRecord) {
    super(message, details);
    this.job = job;
  }
}

/** @param baseUrl of the service, which has the documentation. */
export function jobError(job: JobRecord, baseUrl: string): PlatenJobError {
  const code = job.error?.code ?? job.status.toUpperCase();
  const remedy = REMEDIES[code];
  const docsUrl = remedy === undefined ? undefined : `${baseUrl}${ERRORS_PAGE}#${code}`;
  const message = job.error?.message ?? `The job has ${job.status}.`;
  return new PlatenJobError(message, { code, jobId: job.jobId, remedy, docsUrl }, job);
}

/** The error of a render that failed while the service held its request; any other error unchanged. */
export function failedWhileHeld(error: PlatenApiError): PlatenError {
  const { message, code, status, jobId, requestId, remedy, docsUrl } = error;
  if (jobId === undefined || code === undefined) return error;
  return new PlatenJobError(message, { code, status, jobId, requestId, remedy, docsUrl, cause: error });
}

/** No answer could be had within the time that the client goes on trying; `cause` has the last reason. */
export class PlatenConnectionError extends PlatenError {
  constructor(baseUrl: string, attempts: number, cause: unknown) {
    const count = attempts === 1 ? '1 attempt' : `${attempts} attempts`;
    super(`No answer from ${baseUrl} after ${count}: ${reasonOf(cause)}`, { cause });
  }
}

/** The signal of a call was aborted; `cause` has its reason. A job goes on, unless `cancelOnAbort` was given. */
export class PlatenAbortError extends PlatenError {
  constructor(cause: unknown, jobId: string | undefined) {
    super('The call was aborted.', { cause, jobId });
    // As callers know it of fetch.
    this.name = 'AbortError';
  }
}

/** The `timeoutMs` of a call is over. A job goes on, unless `cancelOnAbort` was given. */
export class PlatenDeadlineError extends PlatenError {
  constructor(timeoutMs: number, jobId: string | undefined) {
    super(`Not done within ${timeoutMs} ms.`, { jobId });
    this.name = 'TimeoutError';
  }
}

/** A callback that is not known to come from the service: it must not be acted upon. */
export class PlatenSignatureError extends PlatenError {}

/** What is at the bottom of a failure: fetch itself says no more than that it has failed. */
export function reasonOf(failure: unknown): string {
  if (!(failure instanceof Error)) return String(failure);
  const [first] = failure instanceof AggregateError ? (failure.errors as unknown[]) : [failure.cause];
  return first === undefined ? failure.message.trim() || failure.name : reasonOf(first);
}

function isErrorBody(body: unknown): body is ErrorBody {
  return typeof body === 'object' && body !== null && 'code' in body && 'message' in body;
}
