export interface CallOptions {
  /** Ends the call: the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface RenderCallOptions extends CallOptions {
  /**
   * Names the order for 24 hours: a second call with the same name and the same request brings the same PDF, or the same
   * batch. One is made up for each call unless given.
   */
  readonly idempotencyKey?: string;
}

/** What a call that orders something sends with it. */
export function named({ idempotencyKey, signal }: RenderCallOptions) {
  const header = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
  return { params: { header }, ...(signal && { signal }) };
}

/** What a call about one job or batch sends with it. */
export function about(id: string, { signal }: CallOptions) {
  return { params: { path: { id } }, ...(signal && { signal }) };
}
