/**
 * Every error that Platen can respond with or record.
 *
 * An entry applies to HTTP responses (`status`) and to jobs (`attempts`) alike. The table in `docs/errors.md` is
 * generated from here.
 */
interface ErrorEntry {
  /** HTTP status when the error ends a request. */
  readonly status: number;
  /** The message when the code that throws the error has no more precise one. */
  readonly message: string;
  /** How many attempts a job has in all when it fails with this error (1 = no retry). */
  readonly attempts: 1 | 2 | 3;
  /** Whether a client may send the unchanged request again. */
  readonly retryable: boolean;
}

const REGISTRY = {
  // Requests
  VALIDATION: { status: 400, message: 'The request is not valid.', attempts: 1, retryable: false },
  MALFORMED_JSON: { status: 400, message: 'The body is not valid JSON.', attempts: 1, retryable: false },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 400,
    message: 'The body must be application/json.',
    attempts: 1,
    retryable: false,
  },
  BILLING_NOT_CONFIGURED: {
    status: 400,
    message: 'This installation sells no plans: its operator sets them.',
    attempts: 1,
    retryable: false,
  },
  PAYMENT_EVENT_REFUSED: {
    status: 400,
    message: 'The event was not accepted.',
    attempts: 1,
    retryable: true,
  },
  NOT_SUBSCRIBED: {
    status: 400,
    message: 'The account has no active subscription.',
    attempts: 1,
    retryable: false,
  },
  NOT_SOLD: { status: 400, message: 'This is not sold at the moment.', attempts: 1, retryable: false },
  PAYMENT_FAILED: { status: 400, message: 'The payment failed.', attempts: 1, retryable: true },
  UNAUTHENTICATED: { status: 401, message: 'A valid credential is required.', attempts: 1, retryable: false },
  ACCOUNT_SUSPENDED: {
    status: 403,
    message: 'The operator of this installation has suspended the account.',
    attempts: 1,
    retryable: false,
  },
  ADDRESS_NOT_ALLOWED: {
    status: 403,
    message: 'This API key may not be used from this address.',
    attempts: 1,
    retryable: false,
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    message: 'Only pages of the public origin (PLATEN_PUBLIC_URL) may send this request.',
    attempts: 1,
    retryable: false,
  },
  PASSWORD_REQUIRED: {
    status: 403,
    message: 'Sign in again first: this needs a password that was given within the last 5 minutes.',
    attempts: 1,
    retryable: false,
  },
  PLAN_LIMIT: { status: 403, message: 'The plan does not allow this.', attempts: 1, retryable: false },
  QUOTA_EXCEEDED: { status: 403, message: 'The monthly quota is used up.', attempts: 1, retryable: false },
  TEST_QUOTA_EXCEEDED: {
    status: 403,
    message: 'The test renders of today are used up.',
    attempts: 1,
    retryable: false,
  },
  STORAGE_FULL: {
    status: 403,
    message: 'The storage that the plan allows is used up.',
    attempts: 1,
    retryable: false,
  },
  KEY_CAPACITY: {
    status: 403,
    message: 'The plan allows no more active API keys.',
    attempts: 1,
    retryable: false,
  },
  TEMPLATE_CAPACITY: {
    status: 403,
    message: 'The account has as many templates as it may have.',
    attempts: 1,
    retryable: false,
  },
  REGISTRATION_CLOSED: {
    status: 403,
    message: 'Registration is closed on this installation.',
    attempts: 1,
    retryable: false,
  },
  INVITATION_INVALID: {
    status: 403,
    message: 'The invitation does not exist, was used, or has expired.',
    attempts: 1,
    retryable: false,
  },
  LINK_INVALID: {
    status: 403,
    message: 'The link was used, has expired, or was never sent. Request another one.',
    attempts: 1,
    retryable: false,
  },
  CONFIRMATION_UNPROVEN: {
    status: 403,
    message: 'The link does not show that you made the account.',
    attempts: 1,
    retryable: false,
  },
  ADDRESS_NOT_CONFIRMED: {
    status: 403,
    message: 'Live keys and live renders need a confirmed e-mail address.',
    attempts: 1,
    retryable: false,
  },
  WRONG_PASSWORD: {
    status: 403,
    message: 'The password is wrong.',
    attempts: 1,
    retryable: false,
  },
  NOT_FOUND: { status: 404, message: 'There is no such resource.', attempts: 1, retryable: false },
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: 'The method is not supported here.',
    attempts: 1,
    retryable: false,
  },
  UPLOAD_TOO_SLOW: {
    status: 408,
    message: 'The body was sent too slowly.',
    attempts: 1,
    retryable: true,
  },
  NOT_RETRYABLE: {
    status: 409,
    message: 'Only a job that has failed or was cancelled can be retried.',
    attempts: 1,
    retryable: false,
  },
  JOB_ENDED: { status: 409, message: 'The job has already ended.', attempts: 1, retryable: false },
  IDEMPOTENCY_MISMATCH: {
    status: 409,
    message: 'This Idempotency-Key was used with a different body.',
    attempts: 1,
    retryable: false,
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    message: 'The first request with this Idempotency-Key is still being processed.',
    attempts: 1,
    retryable: true,
  },
  GONE: {
    status: 410,
    message: 'The outputs are no longer kept.',
    attempts: 1,
    retryable: false,
  },
  INPUT_TOO_LARGE: {
    status: 413,
    message: 'The input is larger than the plan allows.',
    attempts: 1,
    retryable: false,
  },
  BATCH_TOO_LARGE: {
    status: 413,
    message: 'The batch has more items than the plan allows.',
    attempts: 1,
    retryable: false,
  },
  RANGE_NOT_SATISFIABLE: {
    status: 416,
    message: 'The requested range is not within the file.',
    attempts: 1,
    retryable: false,
  },
  RATE_LIMITED: { status: 429, message: 'Too many requests in this minute.', attempts: 1, retryable: true },
  TOO_MANY_WAITING: {
    status: 429,
    message: 'Too many jobs of this account are waiting.',
    attempts: 1,
    retryable: true,
  },
  TOO_MANY_UPLOADS: {
    status: 429,
    message: 'The account is uploading too much at the same time.',
    attempts: 1,
    retryable: true,
  },
  TOO_MANY_FAILURES: {
    status: 429,
    message: 'Too many attempts to sign in have failed.',
    attempts: 1,
    retryable: true,
  },
  TOO_MANY_REGISTRATIONS: {
    status: 429,
    message: 'Too many accounts were registered from this network.',
    attempts: 1,
    retryable: true,
  },
  TOO_MANY_MAILS: {
    status: 429,
    message: 'Too many mails were requested from this network or to this address.',
    attempts: 1,
    retryable: true,
  },
  INTERNAL: { status: 500, message: 'Something went wrong on our side.', attempts: 3, retryable: true },
  UNAVAILABLE: {
    status: 503,
    message: 'The service cannot take work at the moment.',
    attempts: 1,
    retryable: true,
  },

  OVERAGE_PENDING: {
    status: 503,
    message: 'The quota is used up, and more is being bought at this moment.',
    attempts: 1,
    retryable: true,
  },

  // Jobs: errors of the document
  INVALID_URL: {
    status: 400,
    message: 'The source URL is not a valid http or https address.',
    attempts: 1,
    retryable: false,
  },
  URL_BLOCKED: {
    status: 400,
    message: 'The source URL leads to a blocked address.',
    attempts: 1,
    retryable: false,
  },
  URL_UNREACHABLE: {
    status: 400,
    message: 'The source URL could not be loaded.',
    attempts: 3,
    retryable: false,
  },
  SELECTOR_TIMEOUT: {
    status: 400,
    message: 'The selector to wait for never appeared.',
    attempts: 1,
    retryable: false,
  },
  CONDITION_TIMEOUT: {
    status: 400,
    message: 'A condition that the render waits for was not met in time.',
    attempts: 1,
    retryable: false,
  },
  EXCEPTION_THROWN: {
    status: 400,
    message: 'A script of the render or of the document threw an exception.',
    attempts: 1,
    retryable: false,
  },
  ASSET_FAILED: {
    status: 400,
    message: 'An asset of the document could not be loaded, and failOn makes the render fail for that.',
    attempts: 3,
    retryable: false,
  },
  GLYPH_MISSING: {
    status: 400,
    message:
      'No font has a character of the document: name a font that has it, or load one with the document.',
    attempts: 1,
    retryable: false,
  },
  DOCUMENT_FAULT: {
    status: 400,
    message: 'The printed document has a fault for which failOn makes the render fail.',
    attempts: 1,
    retryable: false,
  },
  COOKIE_INVALID: {
    status: 400,
    message:
      'The browser refuses a cookie of the render: its name, domain, path or attributes do not go together.',
    attempts: 1,
    retryable: false,
  },
  PAGE_RANGE_INVALID: {
    status: 400,
    message: 'The document has none of the requested pages.',
    attempts: 1,
    retryable: false,
  },
  TEMPLATE_ERROR: {
    status: 400,
    message: 'The template could not be rendered.',
    attempts: 1,
    retryable: false,
  },
  DOCUMENT_LIMIT: {
    status: 400,
    message: 'The document needs more of the browser than one render may use.',
    attempts: 1,
    retryable: false,
  },
  OUTPUT_TOO_LARGE: {
    status: 413,
    message: 'The PDF is larger than the plan allows.',
    attempts: 1,
    retryable: false,
  },
  RENDER_TIMEOUT: {
    status: 504,
    message: 'The render did not finish in time.',
    attempts: 2,
    retryable: true,
  },

  // Jobs: errors of the service
  BROWSER_CRASHED: {
    status: 500,
    message: 'The browser ended while rendering.',
    // A document that crashes the browser twice is not retried, whatever `attempts` allows.
    attempts: 3,
    retryable: true,
  },
  WORKER_LOST: {
    status: 500,
    message: 'The worker that rendered this job was lost.',
    attempts: 3,
    retryable: true,
  },
  RENDER_FAILED: {
    status: 500,
    message: 'The document could not be rendered.',
    attempts: 3,
    retryable: true,
  },

  // Jobs: states and outcomes
  RETRY_SCHEDULED: {
    status: 202,
    message: 'An attempt failed; another is scheduled.',
    attempts: 3,
    retryable: true,
  },
  CANCELLED: { status: 409, message: 'The job was cancelled.', attempts: 1, retryable: false },
  EXPIRED: {
    status: 410,
    message: 'The job waited longer than its retention allows.',
    attempts: 1,
    retryable: false,
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof REGISTRY;

/** The registry, typed so that all entries have the same type. */
export const ERRORS: Readonly<Record<ErrorCode, ErrorEntry>> = REGISTRY;

interface PlatenErrorOptions {
  /** Several errors of one request, each with the position of its field (`options.scale: …`). */
  readonly details?: readonly string[];
  /** Seconds after which the same request can succeed. */
  readonly retryAfterSeconds?: number;
  /** Set when this error is permanent although its code is usually temporary (a name that does not exist). */
  readonly permanent?: boolean;
  /** The job that the error belongs to, if there is one. */
  readonly jobId?: string;
  /** Set when other jobs failed with the same error, so that it is not known which job caused it. */
  readonly shared?: boolean;
  readonly cause?: unknown;
}

/** An error for the caller: its code is in the registry, and its message says what is wrong and where. */
export class PlatenError extends Error {
  readonly code: ErrorCode;
  readonly details: readonly string[];
  readonly retryAfterSeconds: number | undefined;
  readonly permanent: boolean;
  readonly jobId: string | undefined;
  readonly shared: boolean;

  constructor(code: ErrorCode, message: string = ERRORS[code].message, options: PlatenErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PlatenError';
    this.code = code;
    this.details = options.details ?? [];
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.permanent = options.permanent ?? false;
    this.jobId = options.jobId;
    this.shared = options.shared ?? false;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** The error to record for any thrown value: a registry error unchanged, anything else as `fallback`. */
export function toPlatenError(thrown: unknown, fallback: ErrorCode = 'INTERNAL'): PlatenError {
  if (thrown instanceof PlatenError) return thrown;
  return new PlatenError(fallback, undefined, { cause: thrown });
}
