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

/** An error that the same request or document meets again. */
const final = (status: number, message: string): ErrorEntry => ({
  status,
  message,
  attempts: 1,
  retryable: false,
});

/** An error that may pass. */
const passing = (status: number, message: string, attempts: ErrorEntry['attempts'] = 1): ErrorEntry => ({
  status,
  message,
  attempts,
  retryable: true,
});

const REGISTRY = {
  // Requests
  VALIDATION: final(400, 'The request is not valid.'),
  MALFORMED_JSON: final(400, 'The body is not valid JSON.'),
  UNSUPPORTED_MEDIA_TYPE: final(400, 'The body must be application/json.'),
  BILLING_NOT_CONFIGURED: final(400, 'This installation sells no plans: its operator sets them.'),
  PAYMENT_EVENT_REFUSED: passing(400, 'The event was not accepted.'),
  NOT_SUBSCRIBED: final(400, 'The account has no active subscription.'),
  NOT_SOLD: final(400, 'This is not sold at the moment.'),
  PAYMENT_FAILED: passing(400, 'The payment failed.'),
  UNAUTHENTICATED: final(401, 'A valid credential is required.'),
  ACCOUNT_SUSPENDED: final(403, 'The operator of this installation has suspended the account.'),
  ADDRESS_NOT_ALLOWED: final(403, 'This API key may not be used from this address.'),
  ROLE_NOT_ALLOWED: final(403, 'Your role in the account does not allow this.'),
  CODE_REQUIRED: final(403, 'The sign-in needs the code of an authenticator app, or a passkey, as well.'),
  WRONG_CODE: final(403, 'The code is wrong, or was used already.'),
  PASSKEY_REFUSED: final(
    403,
    'The passkey was not accepted: it is not known here, was removed, or was asked for too long ago.',
  ),
  ISSUER_REQUIRED: final(403, 'You can open this account only through the sign-in of your organization.'),
  DOMAIN_UNPROVEN: final(403, 'The domain does not say that it is of this account.'),
  DOMAIN_CAPACITY: final(403, 'The account has as many domains as it may have.'),
  PASSKEY_CAPACITY: final(403, 'There are as many passkeys as a person may have.'),
  SECOND_FACTOR_REQUIRED: final(403, 'The account is open only to people who sign in with a second factor.'),
  SESSION_REQUIRED: final(403, 'Only the session of a browser can do this.'),
  ORIGIN_NOT_ALLOWED: final(
    403,
    'Only pages of the public origin (PLATEN_PUBLIC_URL) may send this request.',
  ),
  PASSWORD_REQUIRED: final(
    403,
    'Sign in again first: this needs a password that was given within the last 5 minutes.',
  ),
  PLAN_LIMIT: final(403, 'The plan does not allow this.'),
  QUOTA_EXCEEDED: final(403, 'The monthly quota is used up.'),
  TEST_QUOTA_EXCEEDED: final(403, 'The test renders of today are used up.'),
  STORAGE_FULL: final(403, 'The storage that the plan allows is used up.'),
  KEY_CAPACITY: final(403, 'The plan allows no more active API keys.'),
  TEMPLATE_CAPACITY: final(403, 'The account has as many templates as it may have.'),
  REGISTRATION_CLOSED: final(403, 'Registration is closed on this installation.'),
  INVITATION_INVALID: final(403, 'The invitation does not exist, was used, or has expired.'),
  INVITATION_UNPROVEN: final(403, 'Sign in with the address of the invitation, or send its password.'),
  MEMBER_CAPACITY: final(403, 'The account has as many members and invitations as it may have.'),
  LINK_INVALID: final(403, 'The link was used, has expired, or was never sent. Request another one.'),
  CONFIRMATION_UNPROVEN: final(403, 'The link does not show that you made the account.'),
  ADDRESS_NOT_CONFIRMED: final(403, 'Live keys and live renders need a confirmed e-mail address.'),
  WRONG_PASSWORD: final(403, 'The password is wrong.'),
  NOT_FOUND: final(404, 'There is no such resource.'),
  METHOD_NOT_ALLOWED: final(405, 'The method is not supported here.'),
  UPLOAD_TOO_SLOW: passing(408, 'The body was sent too slowly.'),
  ALREADY_MEMBER: final(409, 'This address belongs to the account already.'),
  OWNER_REQUIRED: final(409, 'An account has an owner, who can neither be removed nor get another role.'),
  DOMAIN_CLAIMED: final(409, 'The account has this domain already.'),
  DOMAIN_TAKEN: final(409, 'The domain is of another account, as it says itself.'),
  SECOND_FACTOR_SET: final(409, 'There is a second factor already.'),
  NOT_RETRYABLE: final(409, 'Only a job that has failed or was cancelled can be retried.'),
  TEMPLATE_CHANGED: final(
    409,
    'The template has been saved since the version that the change was made from.',
  ),
  WRONG_STATE: final(409, 'The batch is not in a state for that.'),
  JOB_ENDED: final(409, 'The job has already ended.'),
  NOT_MERGEABLE: final(409, 'A protected or sealed PDF cannot be merged with others.'),
  IDEMPOTENCY_MISMATCH: final(409, 'This Idempotency-Key was used with a different body.'),
  IDEMPOTENCY_IN_PROGRESS: passing(
    409,
    'The first request with this Idempotency-Key is still being processed.',
  ),
  GONE: final(410, 'The outputs are no longer kept.'),
  INPUT_TOO_LARGE: final(413, 'The input is larger than the plan allows.'),
  SOURCE_UNREADABLE: final(400, 'The rows of the file cannot be read.'),
  BATCH_TOO_LARGE: final(413, 'The batch has more items than the plan allows.'),
  RANGE_NOT_SATISFIABLE: final(416, 'The requested range is not within the file.'),
  RATE_LIMITED: passing(429, 'Too many requests in this minute.'),
  TOO_MANY_WAITING: passing(429, 'Too many jobs of this account are waiting.'),
  TOO_MANY_UPLOADS: passing(429, 'The account is uploading too much at the same time.'),
  TOO_MANY_FAILURES: passing(429, 'Too many attempts to sign in have failed.'),
  TOO_MANY_REGISTRATIONS: passing(429, 'Too many accounts were registered from this network.'),
  TOO_MANY_MAILS: passing(429, 'Too many mails were requested from this network or to this address.'),
  INTERNAL: passing(500, 'Something went wrong on our side.', 3),
  UNAVAILABLE: passing(503, 'The service cannot take work at the moment.'),

  OVERAGE_PENDING: passing(503, 'The quota is used up, and more is being bought at this moment.'),

  // Jobs: errors of the document
  UPLOAD_URL_EXPIRED: final(400, 'The address of the upload is not valid for long enough.'),
  UPLOAD_FAILED: final(400, 'The PDF could not be put to the address of the upload.'),
  INVALID_URL: final(400, 'The source URL is not a valid http or https address.'),
  URL_BLOCKED: final(400, 'The source URL leads to a blocked address.'),
  URL_UNREACHABLE: {
    status: 400,
    message: 'The source URL could not be loaded.',
    attempts: 3,
    retryable: false,
  },
  SELECTOR_TIMEOUT: final(400, 'The selector to wait for never appeared.'),
  CONDITION_TIMEOUT: final(400, 'A condition that the render waits for was not met in time.'),
  EXCEPTION_THROWN: final(400, 'A script of the render or of the document threw an exception.'),
  ASSET_FAILED: {
    status: 400,
    message: 'An asset of the document could not be loaded, and failOn makes the render fail for that.',
    attempts: 3,
    retryable: false,
  },
  GLYPH_MISSING: final(
    400,
    'No font has a character of the document: name a font that has it, or load one with the document.',
  ),
  DOCUMENT_FAULT: final(400, 'The printed document has a fault for which failOn makes the render fail.'),
  CONFORMANCE_FAILED: final(400, 'The document has faults that keep it from the conformance asked for.'),
  EINVOICE_INVALID: final(400, 'The e-invoice breaks a rule of its standard.'),
  COOKIE_INVALID: final(
    400,
    'The browser refuses a cookie of the render: its name, domain, path or attributes do not go together.',
  ),
  SEAL_FAILED: {
    status: 400,
    message: 'The PDF could not be sealed.',
    attempts: 2,
    retryable: false,
  },
  TIMESTAMP_FAILED: {
    status: 400,
    message: 'The time-stamp authority has given no time stamp.',
    attempts: 2,
    retryable: true,
  },
  REVOCATION_FAILED: {
    status: 400,
    message: 'It could not be proven that no certificate of the seal is revoked.',
    attempts: 2,
    retryable: true,
  },
  PDF_INVALID: final(400, 'The PDF cannot be read.'),
  PDF_ENCRYPTED: final(400, 'The PDF is encrypted.'),
  PDF_SIGNED: final(400, 'The PDF is signed, and a change would make its signature invalid.'),
  FORM_FIELD_UNKNOWN: final(400, 'The PDF does not have a field that was to be filled in.'),
  FORM_VALUE_INVALID: final(400, 'A field of the PDF does not take the value that it was to have.'),
  PAGE_RANGE_INVALID: final(400, 'The document has none of the requested pages.'),
  TEMPLATE_ERROR: final(400, 'The template could not be rendered.'),
  DOCUMENT_LIMIT: final(400, 'The document needs more than one render may use.'),
  OUTPUT_TOO_LARGE: final(413, 'The PDF is larger than the plan allows.'),
  RENDER_TIMEOUT: passing(504, 'The render did not finish in time.', 2),

  // Jobs: errors of the service
  BROWSER_CRASHED: {
    status: 500,
    message: 'The browser ended while rendering.',
    // A document that crashes the browser twice is not retried, whatever `attempts` allows.
    attempts: 3,
    retryable: true,
  },
  WORKER_LOST: passing(500, 'The worker that rendered this job was lost.', 3),
  RENDER_FAILED: passing(500, 'The document could not be rendered.', 3),

  // Jobs: states and outcomes
  RETRY_SCHEDULED: passing(202, 'An attempt failed; another is scheduled.', 3),
  CANCELLED: final(409, 'The job was cancelled.'),
  EXPIRED: final(410, 'The job waited longer than its retention allows.'),
} satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof REGISTRY;

/** The registry, typed so that all entries have the same type. */
export const ERRORS: Readonly<Record<ErrorCode, ErrorEntry>> = REGISTRY;

export interface PlatenErrorOptions {
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
