/** An answer of Stripe that is no success. */
export class ApiFault extends Error {
  readonly status: number;
  readonly error: Readonly<Record<string, unknown>>;
  /** Whether an idempotency key keeps it: not where the request was refused before anything was done. */
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
export function refused(message: string, code?: string, param?: string): ApiFault {
  const told = { ...(code !== undefined && { code }), ...(param !== undefined && { param }) };
  return new ApiFault(400, { type: 'invalid_request_error', message, ...told }, false);
}

/** The request is well-formed, and the state of things is against it. */
export function conflicting(message: string, code?: string): ApiFault {
  return new ApiFault(
    400,
    { type: 'invalid_request_error', message, ...(code !== undefined && { code }) },
    true,
  );
}

export function missing(what: string, id: string): ApiFault {
  const message = `No such ${what}: '${id}'`;
  return new ApiFault(
    404,
    { type: 'invalid_request_error', code: 'resource_missing', param: 'id', message },
    false,
  );
}

/** The card was not charged. */
export function cardFault(
  code: string,
  message: string,
  paymentIntent: object,
  declineCode?: string,
): ApiFault {
  const told = { type: 'card_error', code, message, payment_intent: paymentIntent };
  return new ApiFault(
    402,
    { ...told, ...(declineCode !== undefined && { decline_code: declineCode }) },
    true,
  );
}
