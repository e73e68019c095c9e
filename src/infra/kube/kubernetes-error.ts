/** The API server rejected a call, or could not be reached. */
export class KubernetesError extends Error {
  override readonly name = 'KubernetesError';
  /** The HTTP status; 0 without a whole response (no connection, deadline passed, response cut off). */
  readonly status: number;
  /** The server's own reason (`Conflict`, `AlreadyExists`, `Expired` …), or `Unreachable`, `DeadlineExceeded`. */
  readonly reason: string;
  /** How long the server asks the client to wait, in milliseconds, if it does. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, { status, reason, retryAfterMs, cause }: KubernetesErrorOptions) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
  }
}

interface KubernetesErrorOptions {
  readonly status: number;
  readonly reason: string;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

/** There is no such object (any more). */
export function isNotFound(error: unknown): boolean {
  return error instanceof KubernetesError && error.status === 404;
}

/** The object has changed since it was read, exists already, or a field to be applied is another manager's. */
export function isConflict(error: unknown): boolean {
  return error instanceof KubernetesError && error.status === 409;
}

/** The resource version, or the position in a paged list, is too old: list again. */
export function isExpired(error: unknown): boolean {
  return error instanceof KubernetesError && error.status === 410;
}
