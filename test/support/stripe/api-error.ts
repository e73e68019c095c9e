/** A response of Stripe other than success. */
export class ApiError extends Error {
  readonly status: number;
  readonly error: Readonly<Record<string, unknown>>;
  /** Whether an idempotency key keeps it: not where the request was rejected before anything was done. */
  readonly kept: boolean;

  constructor(
    status: number,
    error: { type: string; message: string; code?: string; param?: string } & Record<string, unknown>,
    kept: boolean,
  ) {
    super(error.message);
    this.status = status;
    this.error = error;
    this.kept = kept;
  }
}

/** The request is wrong in itself. */
export function invalidRequest(message: string, code?: string, param?: string): ApiError {
  const reported = { ...(code !== undefined && { code }), ...(param !== undefined && { param }) };
  return new ApiError(400, { type: 'invalid_request_error', message, ...reported }, false);
}

/** The request is well-formed, and the state of things is against it. */
export function conflicting(message: string, code?: string): ApiError {
  return new ApiError(
    400,
    { type: 'invalid_request_error', message, ...(code !== undefined && { code }) },
    true,
  );
}

export function missing(what: string, id: string): ApiError {
  const message = `No such ${what}: '${id}'`;
  return new ApiError(
    404,
    { type: 'invalid_request_error', code: 'resource_missing', param: 'id', message },
    false,
  );
}

/** The card was not charged. */
export function cardError(
  code: string,
  message: string,
  paymentIntent: object,
  declineCode?: string,
): ApiError {
  const reported = { type: 'card_error', code, message, payment_intent: paymentIntent };
  return new ApiError(
    402,
    { ...reported, ...(declineCode !== undefined && { decline_code: declineCode }) },
    true,
  );
}
