/**
 * Why a target cannot be reached: `blocked` by the address policy; `unresolvable` because its name does not exist, or
 * is reported so; `unreachable` for every error that may pass (no response, connection refused, name server down).
 */
export type EgressErrorCode = 'blocked' | 'unresolvable' | 'unreachable';

/**
 * A connection that could not be made.
 *
 * `code` and `message` may be shown to the customer. A name that resolves to a forbidden address is reported as one
 * that does not exist, so that rejections reveal nothing of a private name server. The rest is for the log.
 */
export class EgressError extends Error {
  readonly code: EgressErrorCode;
  readonly detail: string;
  /** Whether the address policy has refused it, whatever `code` reports. */
  readonly refused: boolean;
  /** Whether the operator's own proxy has failed, or has refused to connect. */
  readonly byProxy: boolean;

  constructor(
    error: EgressErrorCode,
    message: string,
    detail: string,
    {
      cause,
      refused = error === 'blocked',
      byProxy = false,
    }: { readonly cause?: unknown; readonly refused?: boolean; readonly byProxy?: boolean } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'EgressError';
    this.code = error;
    this.detail = detail;
    this.refused = refused;
    this.byProxy = byProxy;
  }
}
