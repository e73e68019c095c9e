import type { Error as ErrorBody, JobRecord } from './generated/schema.ts';

/** The code of an error, as docs/errors.md lists them. */
export type ErrorCode = ErrorBody['code'];

/** Characters of an answer that did not come from Platen itself. */
const MOST_SHOWN = 500;

/** The service has answered with an error, and trying again did not help or was of no use. */
export class PlatenApiError extends Error {
  readonly status: number;
  /** Undefined when the answer did not come from Platen itself, but from something in between. */
  readonly code: ErrorCode | undefined;
  /** Every fault of the request; one entry for most errors. */
  readonly messages: readonly string[];
  /** Names the request in the service's log. */
  readonly requestId: string | undefined;
  /** What can be done about it, and where more is said of it; undefined as `code` is. */
  readonly remedy: string | undefined;
  readonly docsUrl: string | undefined;
  /** The job that failed, when there is one. */
  readonly jobId: string | undefined;

  constructor(response: Response, body: unknown) {
    const reported = isErrorBody(body) ? body : undefined;
    const text = typeof body === 'string' && body !== '' ? `: ${body.slice(0, MOST_SHOWN)}` : '.';
    const messages = [reported?.message ?? `The service answered ${response.status}${text}`].flat();
    super(messages.join('; '));
    this.name = 'PlatenApiError';
    this.status = response.status;
    this.code = reported?.code;
    this.messages = messages;
    this.remedy = reported?.remedy;
    this.docsUrl = reported?.docsUrl;
    this.requestId = reported?.requestId ?? response.headers.get('x-request-id') ?? undefined;
    this.jobId = reported?.jobId;
  }
}

/** A job that was waited for has failed for good, or was cancelled. */
export class PlatenJobError extends Error {
  readonly jobId: string;
  /** A code as docs/errors.md lists them; CANCELLED for a job that was cancelled. */
  readonly code: string;
  readonly job: JobRecord;

  constructor(job: JobRecord) {
    super(job.error?.message ?? `The job has ${job.status}.`);
    this.name = 'PlatenJobError';
    this.jobId = job.jobId;
    this.code = job.error?.code ?? job.status.toUpperCase();
    this.job = job;
  }
}

/** No answer could be had within the time that the client goes on trying; `cause` has the last reason. */
export class PlatenConnectionError extends Error {
  constructor(attempts: number, cause: unknown) {
    super(`No answer after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}.`, { cause });
    this.name = 'PlatenConnectionError';
  }
}

function isErrorBody(body: unknown): body is ErrorBody {
  return typeof body === 'object' && body !== null && 'code' in body && 'message' in body;
}
